// Whatever scrolls sideways can be reached by the keyboard and says what it is, and each bar with a button to copy code has a name. The
// theme makes some of these only when they come into sight, so it is done again whenever something is added.
let copied = 0;
function reachable() {
  document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((bar) => {
    bar.setAttribute("aria-label", `code ${(copied += 1)}`);
  });
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (wide.scrollWidth > wide.clientWidth && !wide.hasAttribute("role")) {
      wide.tabIndex = 0;
      wide.setAttribute("role", "group");
      wide.setAttribute("aria-label", wide.matches("pre > code") ? "code that scrolls" : "table that scrolls");
    }
  }
}
reachable();
new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", reachable);
