// From what the reader thinks of answers to labels.csv, by which `evalc calibrate` measures a judge.

const KEPT_AS = `evalc labels of ${[...new Set(suites.map(suite => suite.runId))].join(" ")}`;
const MOST_STEPS = 10;

// By a case's address, what each of its questions was labelled. A browser may keep nothing for a page.
const labelled = (() => {
  try {
    return new Map(Object.entries(JSON.parse(localStorage.getItem(KEPT_AS)) ?? {}));
  } catch {
    return new Map();
  }
})();

function keepLabels() {
  try {
    localStorage.setItem(KEPT_AS, JSON.stringify(Object.fromEntries(labelled)));
  } catch {
    // They stay for as long as the page is open.
  }
}

// The answer as a whole, then what a judge was asked of it, each with its steps.
const questionsOf = entry => [
  { name: "", question: "", steps: [[0, "bad"], [1, "good"]] },
  ...entry.criteria.filter(({ judged: said }) => Number.isInteger(said?.maxScore) && said.maxScore <= MOST_STEPS)
    .map(({ name, question = "", judged: said }) => ({ name, question, steps: Array.from({ length: said.maxScore + 1 }, (_, step) => [step, String(step)]) })),
];

const countLabels = () => [...labelled.values()].reduce((sum, each) => sum + Object.keys(each).length, 0);

function label(entry, name, step) {
  const own = labelled.get(entry.address) ?? {};
  if (own[name] === step) delete own[name];
  else own[name] = step;
  if (Object.keys(own).length) labelled.set(entry.address, own);
  else labelled.delete(entry.address);
  keepLabels();
  showLabels();
}

// The buttons and counts as labelled, also in another part of the page.
function showLabels() {
  for (const button of document.querySelectorAll("[data-step]")) {
    const own = labelled.get(button.dataset.case)?.[button.dataset.name];
    button.setAttribute("aria-pressed", String(own === Number(button.dataset.step)));
  }
  const save = document.getElementById("save-labels");
  save.hidden = !labelled.size;
  save.textContent = `Save labels.csv (${countLabels()})`;
}

function verdictOf(entry) {
  if (entry.response === undefined) return null;
  const question = ({ name, question: asked, steps }) => el("div", { class: "verdict", role: "group", "aria-label": name ? `Your score of ${plain(name)}` : "Your verdict on the answer" },
    el("span", null, name ? shown(name) : "answer", asked ? el("small", null, " ", shown(asked)) : null),
    el("span", { class: "steps" }, steps.map(([step, text]) => {
      const button = el("button", { type: "button", "data-case": entry.address, "data-name": name, "data-step": step, "aria-pressed": String(labelled.get(entry.address)?.[name] === step) }, text);
      button.addEventListener("click", () => label(entry, name, step));
      return button;
    })));
  return [questionsOf(entry).map(question), el("p", { class: "soft" }, "Kept in this browser, and saved as labels.csv for ", el("code", null, "evalc calibrate"), ".")];
}

const COLUMNS_OF_LABELS = ["case", "criterion", "question", "message", "response", "label", "maxScore"];

// Where a spreadsheet would take a text for a formula, an apostrophe stands before it, as in evalc's other CSV.
const quotedForCsv = value => (typeof value === "number" ? String(value) : `"${value.replace(/^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/, "'$&").replaceAll('"', '""')}"`);

function labelsCsv() {
  const rows = cases.filter(entry => labelled.has(entry.address)).flatMap(entry => {
    const own = labelled.get(entry.address);
    const message = turnsOf(entry).map(turn => textOf(turn.message)).filter(Boolean).join("\n\n");
    return questionsOf(entry).filter(({ name }) => Object.hasOwn(own, name)).map(({ name, question, steps }) =>
      [entry.id, name, question, message, textOf(entry.response), own[name], steps.at(-1)[0]]);
  });
  return [COLUMNS_OF_LABELS, ...rows].map(row => `${row.map(quotedForCsv).join(",")}\r\n`).join("");
}

function saveLabels() {
  const address = URL.createObjectURL(new Blob([labelsCsv()], { type: "text/csv" }));
  el("a", { href: address, download: "labels.csv" }).click();
  URL.revokeObjectURL(address);
}
