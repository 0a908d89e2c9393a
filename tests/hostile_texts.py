"""Texts that a page must show as they are, and the pieces that such are made of."""

from __future__ import annotations

AWAY = "http://elsewhere.example/picture.png"

HOSTILE = (
    f"![x]({AWAY}) [l](http://elsewhere.example)", AWAY, "https://elsewhere.example/?a=1&b=2",
    "HTTP://ELSEWHERE.EXAMPLE/X", "see_www.elsewhere.example/x", "www.elsewhere.example",
    "(www.elsewhere.example)", "somebody@elsewhere.example", "mailto:somebody@elsewhere.example",
    "xmpp:somebody@elsewhere.example/x", "<http://elsewhere.example>", f"<img src={AWAY}>",
    "<b onclick=alert(1)>bold</b>", "[l]: http://elsewhere.example", "[l][l]", "[^1]", "[^1]: x",
    ":red[colour]", ":red-background[colour]", ":blue-badge[b]", ":small[s]", ":rainbow[r]",
    ":color[c]{foreground=red}", ":help[h]", ":shimmer[s]", "::leaf[x]{y}", ":::box", ":name{a=b}",
    ":smile:", ":+1:", ":-1:", ":100:", ":material/home:", ":streamlit:", "x:material/home:y",
    "$x^2$", "$$x$$", r"\$x\$", r"\(x\)", "a $1 b $2", "`code`", "``", "```\ncode\n```", "~~~",
    "~~gone~~", "~sub~", "*a*", "**b**", "_c_", "__d__", "a_b_c", "2*3*4", "&amp;", "&#60;b&#62;",
    "&lt;", "&nbsp;x", "\\", "\\\\", "\\*", "a\\", "# heading", "#", "> quote", "- item", "+ item",
    "* item", "-", "--", "---", "***", "===", "1. first", "1) first", "12.", "7", "- [ ] task",
    "- [x] task", "| a | b |", "|-|-|", "a | b\n-|-\n1 | 2", "a\n===", "a\nb", "a  \nb", "a\r\nb",
    "    code", "\tcode", " x ", "x  ", "\u202egnp.exe", "\u2066x\u2069", "\u200b", "\ufeff",
    "\u2028", "\x00", "\x1b[31m", "\ud800", "a\xa0b", "a -- b", "a -> b", "a <- b", "a <-> b",
    "a >= b", "a <= b", "a ~= b", "->", ">=", "--corpus", "<!-- x -->", "<!DOCTYPE x>", "<?x?>",
    "<details><summary>x", "{{x}}", "{x}", "%s %(x)s", "C:\\Users\\x", "qid:7", "12:30:45",
    "file.csv", "été, 日本, שלום, مرحبا", "👍🏽", "==x==", "^x^", "!", "!x", "a!b", "+++", "@user",
    "user@", "a@b", "x.y@z.w-", "ftp://elsewhere.example", "//elsewhere.example", "#123", "'\"",
)  # fmt: skip

PIECES = (
    *"\\`*_[]{}()<>#+-.!~$|^&:;=@/'\" \n\t0123456789aZ", "  ", "http://", "https://", "www.",
    "elsewhere.example", "](", "![", "&amp;", "&#42;", "**", "~~", "```", "$$", ":red[", ":smile:",
    ":material/", "--", "->", "<-", ">=", "- ", "1. ", "# ", "<b>", "</b>", "a@b.cd", "x", "word",
    "\u202e", "\u200b", "é",
)  # fmt: skip
