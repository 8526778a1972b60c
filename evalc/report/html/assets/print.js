// Before the page is printed: all that did not pass, each with why and what was said, since paper has no rows to open.

const MOST_PRINTED = 300;

function preparePrint() {
  const bad = cases.filter(entry => !entry.good && entry.status !== "skipped");
  const printed = document.getElementById("printed");
  printed.replaceChildren(
    el("h2", null, bad.length ? `${counted(bad.length, "case")} did not pass` : "Every case passed"),
    ...bad.slice(0, MOST_PRINTED).map(entry => el("article", null, el("h3", null, shown(entry.id)), gistOf(entry))),
    bad.length > MOST_PRINTED ? el("p", null, `and ${bad.length - MOST_PRINTED} more`) : "");
}

addEventListener("beforeprint", preparePrint);
addEventListener("afterprint", () => document.getElementById("printed").replaceChildren());
