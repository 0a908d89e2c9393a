// What a reader did is kept in the tab, over a reload; a reveal that is new is scrolled to.
const KEPT = "lab-lessons";
let seen = null;

export default function ({ data, setTriggerValue }) {
  if (data.progress !== null) sessionStorage.setItem(KEPT, data.progress);
  else if (sessionStorage.getItem(KEPT)) setTriggerValue("kept", sessionStorage.getItem(KEPT));
  if (data.commits && data.commits !== seen) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    document.querySelector(".st-key-lesson-reveal")
      ?.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
  }
  seen = data.commits;
}
