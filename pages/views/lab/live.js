// Users of one list, and what the estimates are expected to say while a slider is being moved.
// It reads the page's own sliders; whatever fails here leaves the charts of the last run.

const LIST = 10, USERS = 100, SLOW = 2; // ranks shown, users who come, of whom some read slowly
const PAUSE = 170, NEXT = 110; // milliseconds a rank and a user take
const EDGE = 4.5, MARGIN = 0.14; // as in ultr_core/figures/estimates.py
const COLORS = { naive: "#D55E00", weighted: "#0072B2" };
const SVG = "http://www.w3.org/2000/svg";

export const power = (ranks, eta) => ranks.map((rank) => Math.pow(1 / rank, eta));

// Expected estimates less production's, equations 3 and 5 with noise, from sums by rank:
// sum over r of u_r p_r (eps_plus A_r + eps_minus B_r) / Q, with u = 1 or 1 / q.
export function expected(sums, now) {
  const p = now.users ?? power(sums.ranks, now.eta);
  const q = now.learner ?? power(sums.ranks, now.assumed_eta);
  const all = sums.queries * sums.scale;
  return sums.relevant.map((row, i) => {
    let naive = 0, weighted = 0;
    row.forEach((of_relevant, r) => {
      const clicks = p[r] * (now.eps_plus * of_relevant + now.eps_minus * sums.others[i][r]);
      naive += clicks;
      weighted += clicks / q[r];
    });
    return { naive: naive / all, weighted: weighted / all };
  });
}

// How many rankers are on the wrong side of production, as ultr_core/lab/wrong_sides.py counts.
export function wrong(sums, values, method) {
  const on = (true_sign) => (value, i) =>
    Math.sign(sums.true_risk[i]) === true_sign && Math.sign(value[method]) === -true_sign;
  return { better: values.filter(on(-1)).length, worse: values.filter(on(1)).length };
}

// A number in [0, 1) for each user, rank and question: the same users for every setting.
function chance(...parts) {
  let h = 2166136261;
  for (const part of parts) h = Math.imul(h ^ part, 16777619);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return ((h ^ (h >>> 15)) >>> 0) / 4294967296;
}

export function reads(user, sums, now, p) {
  return sums.list.slice(0, LIST).map((relevant, r) => {
    const looked = chance(now.seed, user, r, 1) < p[r];
    const noise = relevant ? now.eps_plus : now.eps_minus;
    return { looked, clicked: looked && chance(now.seed, user, r, 2) < noise };
  });
}

function element(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

const slider = (key) => document.querySelector(`.st-key-${key} :is([role=slider],[type=range])`);
function value(key, otherwise) {
  const found = slider(key);
  const number = found && parseFloat(found.getAttribute("aria-valuenow") ?? found.value);
  return Number.isFinite(number) ? number : otherwise;
}

function drawUsers(state) {
  const { svg, sums, now, size: { width, height, u } } = state;
  const ranks = sums.ranks.slice(0, LIST);
  const p = now.users ?? power(ranks, now.eta), q = now.learner ?? power(ranks, now.assumed_eta);
  if (width < 200) return; // not laid out yet
  const clicks = ranks.map(() => 0);
  let last = [];
  for (let user = 0; user < state.users; user++) {
    last = reads(user, sums, now, p);
    last.forEach((of, r) => { if (of.clicked && (user < state.users - 1 || r <= state.at)) clicks[r]++; });
  }
  svg.replaceChildren();
  const doc = 24 * u, curve = Math.max(0.36 * width, doc + 80 * u + 14), naive = 0.8 * width, weighted = width - 2;
  const room = naive - curve - 50 * u, top = 40 * u, row = (height - top) / LIST, middle = (r) => top + row * (r + 0.5);
  const head = (x, text, anchor = "start") => element(svg, "text", { x, y: 14 * u, "text-anchor": anchor }, text);
  head(doc, "result"); head(curve, room > 60 * u ? "looked at: p" : "seen: p");
  head(naive, "clicks", "end"); head(weighted, "× 1/p", "end");
  element(svg, "path", { d: `M${naive - 12},${32 * u}l5-9l5 9z`, fill: COLORS.naive });
  element(svg, "circle", { cx: weighted - 7, cy: 32 * u - 5, r: 5, fill: COLORS.weighted });
  ranks.forEach((rank, r) => {
    const y = middle(r), seen = state.users > 0 && r <= state.at && last[r]?.looked;
    const relevant = sums.list[r];
    element(svg, "text", { x: 17 * u, y: y + 5, "text-anchor": "end" }, rank);
    const box = { x: doc, y: y - row * 0.36, width: curve - doc - 14, height: row * 0.72, rx: 4 };
    element(svg, "rect", { ...box, class: relevant ? "relevant" : "other" });
    if (seen) element(svg, "rect", { ...box, class: "seen" });
    element(svg, "text", { x: doc + 8, y: y + 5 }, relevant ? "★ relevant" : "");
    element(svg, "rect", { x: curve, y: y - 4, width: Math.max(1, room * p[r]), height: 8, class: "p" });
    const sum = Math.round(clicks[r] / q[r]).toLocaleString("en");
    if (last[r]?.clicked && r <= state.at) {
      element(svg, "path", { d: `M${curve - 19},${y + 4.5}l5-9l5 9z`, fill: COLORS.naive });
      const plus = `+${+(1 / q[r]).toPrecision(2)}`, end = weighted - Math.max(34, 7 * sum.length + 3) * u;
      if (end - 6.5 * u * plus.length > naive + 3) // there is room between the numbers
        element(svg, "text", { x: end, y: y + 5, "text-anchor": "end", class: "plus" }, plus);
    }
    element(svg, "text", { x: naive, y: y + 5, "text-anchor": "end" }, clicks[r]);
    element(svg, "text", { x: weighted, y: y + 5, "text-anchor": "end" }, sum);
  });
  const line = ranks.map((_, r) => `${curve + room * Math.min(1, q[r])},${middle(r)}`).join(" ");
  element(svg, "polyline", { points: line, class: "q", stroke: COLORS.weighted });
  if (state.timer && state.users <= SLOW) { // the reader
    const eye = element(svg, "g", { transform: `translate(${doc + 9},${middle(state.at)})`, class: "eye" });
    element(eye, "path", { d: "M-9,0q9,-10 18,0q-9,10 -18,0z" });
    element(eye, "circle", { r: 3 });
  }
  const best = sums.list.lastIndexOf(1, LIST - 1);
  const words = `${state.users} of ${USERS} users`;
  state.words.textContent = words;
  svg.setAttribute("aria-label", `${words}: rank 1 has ${clicks[0]} clicks, rank ${best + 1}, also `
    + `relevant, ${clicks[best]}; weighted ${Math.round(clicks[0] / q[0])} and ${Math.round(clicks[best] / q[best])}.`);
}

function drawEstimates(state) {
  const figure = document.querySelector(".st-key-figure-estimates-relative");
  const frame = figure?.querySelector("svg.marks .role-frame path.background");
  const { overlay, sums, now } = state;
  if (!frame || now.eps_plus <= now.eps_minus) {
    overlay.style.display = "none";
    return false;
  }
  const place = frame.getBoundingClientRect();
  Object.assign(overlay.style, { display: "block", left: `${place.x}px`, top: `${place.y}px` });
  overlay.style.boxShadow = ["0 -8px", "4px 0", "0 3px"].map((side) => `${side} light-dark(#fff, #101418)`).join(); // over numbers at the edges
  overlay.setAttribute("width", place.width);
  overlay.setAttribute("height", place.height);
  overlay.replaceChildren();
  const x = (v) => (place.width * (v + EDGE)) / (2 * EDGE), y = (v) => (place.height * (EDGE - v)) / (2 * EDGE);
  element(overlay, "rect", { width: "100%", height: "100%", class: "page" });
  element(overlay, "rect", { width: x(0), height: y(0), class: "shade" });
  element(overlay, "rect", { x: x(0), y: y(0), width: x(0), height: y(0), class: "shade" });
  const slope = now.eps_plus - now.eps_minus;
  const right = now.users || now.learner ? `${now.users}` === `${now.learner}` : now.eta === now.assumed_eta;
  element(overlay, "path", { d: `M${x(-EDGE)},${y(-EDGE * slope)}L${x(EDGE)},${y(EDGE * slope)}`, class: right ? "law" : "law not" });
  const values = expected(sums, now), most = EDGE - MARGIN;
  for (const method of ["naive", "weighted"]) {
    values.forEach((value, i) => {
      const at = [sums.true_risk[i], value[method]];
      const [cx, cy] = at.map((v) => Math.max(-most, Math.min(most, v))), inside = at.every((v) => Math.abs(v) <= EDGE);
      if (!at[0] && !at[1]) return;
      element(overlay, "path", { fill: COLORS[method], d: !inside || method === "naive"
        ? "M-4.5,4.5L0,-4.5L4.5,4.5z" : "M-4.7,0a4.7,4.7 0 1 0 9.4,0a4.7,4.7 0 1 0 -9.4,0",
        transform: `translate(${x(cx)},${y(cy)})` + (inside ? "" : `rotate(${(Math.atan2(
          Math.abs(at[0]) > EDGE && Math.sign(at[0]), Math.abs(at[1]) > EDGE && Math.sign(at[1])) * 180) / Math.PI})scale(.7 1.1)`) });
    });
  }
  const of = { naive: wrong(sums, values, "naive"), weighted: wrong(sums, values, "weighted") };
  const told = (key) => `naive ${of.naive[key]}, weighted ${of.weighted[key]}`;
  const words = (anchor, at, down, text) =>
    element(overlay, "text", { x: at, y: down, "text-anchor": anchor }, text);
  words("start", 6, 50, "better, called worse"); words("start", 6, 70, told("better"));
  words("end", place.width - 6, place.height - 60, "worse, called better"); words("end", place.width - 6, place.height - 40, told("worse"));
  words("end", place.width - 6, y(0) + 22, `expected; line: slope ${slope.toFixed(2)}`);
  return true;
}

// What does not follow the hand is marked as of before: see live.css.
function mark(state, follows) {
  document.querySelector(".stApp").dataset.moving = follows ? "estimates" : "users";
  state.live = true;
}

function rest(state) {
  state.live = false;
  state.overlay.style.display = "none";
  delete document.querySelector(".stApp")?.dataset.moving;
}

function read(state) {
  const { data } = state;
  return { ...data.now, eta: value("eta", 1), assumed_eta: value("assumed_eta", 1), eps_minus: value("eps_minus", 0.1) };
}

const redrawn = (state) => { drawUsers(state); state.root.dataset.users = state.users; };

function stop(state) {
  clearTimeout(state.timer);
  state.timer = 0;
  state.play.textContent = "Play";
}

function tick(state) {
  if (state.users === 0 || state.at >= LIST - 1) {
    if (state.users >= USERS) { stop(state); redrawn(state); return; }
    state.users++;
    state.at = state.users > SLOW ? LIST - 1 : 0;
  } else state.at++;
  state.timer = setTimeout(() => tick(state), state.users > SLOW ? NEXT : PAUSE);
  redrawn(state);
}

function start(root) {
  const state = { root, size: { width: 0, height: 0, u: 1 }, users: 0, at: LIST - 1, timer: 0, live: false, held: false };
  root.insertAdjacentHTML("beforeend", '<svg class="users" role="img"></svg><div class="player"></div>');
  state.svg = root.querySelector("svg");
  const player = root.querySelector(".player");
  const button = (text, act) => {
    const made = document.createElement("button");
    Object.assign(made, { textContent: text, type: "button", onclick: act });
    return player.appendChild(made);
  };
  state.play = button("Play", () => {
    if (state.timer) { stop(state); redrawn(state); return; }
    if (state.users >= USERS) state.users = 0;
    state.play.textContent = "Pause";
    tick(state);
  });
  button("Step", () => { stop(state); state.users = Math.min(USERS, state.users + 1); state.at = LIST - 1; redrawn(state); });
  button("Reset", () => { stop(state); state.users = 0; state.at = LIST - 1; redrawn(state); });
  state.words = player.appendChild(document.createElement("span"));
  state.overlay = element(root, "svg", { class: "overlay", "aria-hidden": "true" });
  return state;
}

const known = new WeakMap();

function run({ parentElement, data }) {
  const root = parentElement.querySelector(".lab-users");
  const first = !known.has(root);
  if (first) known.set(root, start(root));
  const state = known.get(root);
  if (state.text !== data.sums) Object.assign(state, { text: data.sums, sums: JSON.parse(data.sums) });
  state.data = data;
  state.now = read(state);
  let asked = 0, quiet = 0;
  const look = () => {
    asked = 0;
    const now = read(state), moved = JSON.stringify(now) !== JSON.stringify(state.now);
    if (!moved) return;
    const began = performance.now();
    state.now = now;
    mark(state, drawEstimates(state)); // measures the page, so before anything in it changes
    redrawn(state);
    quiet = 0;
    root.dataset.draws = `${root.dataset.draws ?? ""} ${(performance.now() - began).toFixed(1)}`;
  };
  const ask = () => { asked ||= requestAnimationFrame(look); };
  const row = document.querySelector(".st-key-main-controls"), figure = document.querySelector(".st-key-panel-estimates");
  const hold = () => { state.held = true; }, release = () => { state.held = false; };
  const sliders = new MutationObserver(ask), chart = new MutationObserver(() => state.live && !state.held && rest(state));
  if (row) sliders.observe(row, { subtree: true, attributes: true, attributeFilter: ["aria-valuenow", "aria-valuetext", "value"] });
  if (figure) chart.observe(figure, { subtree: true, childList: true, attributes: true, attributeFilter: ["d", "transform"] });
  row?.addEventListener("input", ask, true);
  row?.addEventListener("pointerdown", hold, true);
  for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, release, true);
  // A run that changes no mark, or none at all, leaves nothing to wait for.
  const watch = setInterval(() => {
    const idle = document.querySelector(".stApp")?.dataset.testScriptState === "notRunning";
    quiet = state.live && !state.held && idle ? quiet + 1 : 0;
    if (quiet > 2) rest(state);
  }, 400);
  const measure = () => {
    const { clientWidth: width, clientHeight: height } = state.svg;
    state.size = { width, height, u: parseFloat(getComputedStyle(state.svg).fontSize) / 16 }; // larger in a lecture
    redrawn(state);
  };
  const sized = new ResizeObserver(measure);
  sized.observe(state.svg);
  if (first) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || sessionStorage.getItem("lab-users");
    sessionStorage.setItem("lab-users", "played");
    if (still) state.users = USERS;
    else state.play.click();
  }
  measure();
  return () => {
    [sliders, chart, sized].forEach((observer) => observer.disconnect());
    clearInterval(watch);
    row?.removeEventListener("input", ask, true);
    row?.removeEventListener("pointerdown", hold, true);
    for (const name of ["pointerup", "pointercancel"]) document.removeEventListener(name, release, true);
    stop(state);
    rest(state);
  };
}

// An error that came out of here would stand in the panel in place of the words without a script.
export default function (component) {
  try { return run(component); } catch (error) { console.warn(error); }
}
