// From the totals of the suites to the upper part of the page.

const MOST_NOTES = 3;
const MOST_CLASSES = 30;
const MOST_SUITES = 4;

const total = name => suites.reduce((sum, suite) => sum + (suite.summary[name] ?? 0), 0);

const counts = {};
for (const entry of cases) counts[entry.status] = (counts[entry.status] ?? 0) + 1;

function showHead() {
  const first = suites[0];
  const name = agents.length === 1 ? agents[0] : `${agents.length} agents`;
  document.title = `${total("passed")}/${total("totalCases")} passed · ${plain(name)} · evalc`;
  document.getElementById("title").replaceChildren(...(first ? shown(name) : ["No suite"]));
  if (!first) return;
  const when = new Date(first.timestamp);
  const facts = [
    ["run", [...new Set(suites.map(suite => suite.runId))].join(", ")],
    ["began", Number.isNaN(when.valueOf()) ? first.timestamp : when.toISOString().replace("T", " ").replace(/\.\d+Z/, " UTC")],
    ["rescored from", first.rescoredFrom],
    ["baseline", suites.find(suite => suite.baselineRunId)?.baselineRunId],
  ];
  document.getElementById("about").append(...facts.filter(([, value]) => value).map(([key, value]) => el("div", null, el("dt", null, key), el("dd", null, shown(value)))));
}

function showVerdict() {
  const [passed, all] = [total("passed"), total("totalCases")];
  const scored = suites.map(suite => suite.summary.score).filter(value => value !== null);
  const times = cases.map(entry => entry.durationMs).filter(ms => ms !== undefined).sort((a, b) => a - b);
  const tiles = [
    ["passed", all ? percent(passed / all) : null],
    ["score", scored.length ? score(scored.reduce((sum, value) => sum + value, 0) / scored.length) : null],
    ["p95", times.length ? duration(percentile(times, 0.95)) : null],
    ["cost", suites.some(suite => suite.summary.estimatedCostUsd !== undefined) ? dollars(total("estimatedCostUsd")) : null],
  ];
  const [word, ...why] = run.verdict.split(": ");
  const ended = run.passed === null ? [null, all ? `${percent(passed / all)} passed` : "No case", `${passed.toLocaleString("en")} of ${counted(all, "case")} passed`] : [run.passed ? "passed" : "failed", word[0].toUpperCase() + word.slice(1), why.join(": ")];
  const verdict = document.getElementById("verdict");
  if (ended[0]) verdict.classList.add(ended[0]);
  verdict.append(
    el("div", { class: "ended" }, el("p", { class: "big" }, ended[0] ? el("span", { class: `mark ${ended[0]}`, "aria-hidden": "true" }, STATUSES[ended[0]].mark) : null, ended[1]), el("p", null, ended[2])),
    el("div", { class: "meter" }, statusBar(counts, all), legend()),
    el("dl", { class: "tiles" }, tiles.filter(([, value]) => value !== null).map(([key, value]) => el("div", null, el("dt", null, key), el("dd", null, value)))));
}

function legend() {
  const told = SEVERITY.filter(status => counts[status] && status !== "skipped");
  return el("ul", { class: "legend" }, told.map(status => el("li", null, statusLabel(status), ` ${counts[status].toLocaleString("en")}`)));
}

// Why the run fails though its cases may pass, and what is to be known about it.
function showNotices() {
  const bad = [
    ...run.gates,
    ...new Set(suites.filter(suite => suite.stopped).map(suite => `the run stopped: ${suite.stopped}`)),
  ];
  const notes = [
    ...suites.flatMap(suite => [...suite.stalenessWarnings, ...suite.warnings].map(text => `${nameOf(suite)}: ${text}`)),
    ...suites.filter(suite => suite.selected).map(suite => `${nameOf(suite)}: ${suite.selected.cases} of ${counted(suite.selected.of, "case")} chosen by ${suite.selected.by.join(", ")}`),
    ...run.warnings,
  ];
  const notices = document.getElementById("notices");
  notices.hidden = !(bad.length || notes.length);
  notices.classList.toggle("failed", bad.length > 0);
  const line = (mark, text) => el("li", null, mark, el("span", null, shown(text)));
  const warn = text => line(el("span", { class: "warn" }, el("span", { "aria-hidden": "true" }, "⚠"), el("span", { class: "unseen" }, "warning: ")), text);
  notices.append(...shortList([...bad.map(text => line(statusMark("failed"), text)), ...notes.map(warn)], MOST_NOTES));
}

function showScores(choose) {
  document.getElementById("scores").append(...shortList(suites.map((suite, index) => suiteScores(suite, () => choose(index))), MOST_SUITES));
}

function suiteScores(suite, choose) {
  const { passed, totalCases, score: whole, criteria } = suite.summary;
  const button = el("button", { type: "button", class: "suite", title: "Show only this suite" },
    el("span", { class: "name" }, el("b", null, shown(suite.suite)), ` ${suite.tier}`, agents.length > 1 ? el("small", null, shown(suite.agentEndpoint)) : null),
    el("span", { class: "of" }, `${passed} of ${totalCases}`));
  button.addEventListener("click", choose);
  const rows = criteria.map(criterion => scoreRow(shown(criterion.name), criterion.weight, criterion.score, `${criterion.cases} of ${counted(criterion.of, "case")}`));
  const labels = suite.summary.labels;
  rows.push(...(labels?.classes ?? []).slice(0, MOST_CLASSES).map(each => scoreRow(["F1 of ", ...shown(each.name)], null, each.f1, counted(each.recall.of, "case"))));
  const confused = (labels?.confusion ?? []).filter(pair => pair.expected !== pair.predicted).slice(0, MOST_CLASSES);
  rows.push(...confused.map(pair => el("li", null, el("span", { class: "criterion" }, [...shown(pair.expected), " → ", ...(pair.predicted === null ? ["no label"] : shown(pair.predicted))]), el("span", null, counted(pair.cases, "case")))));
  rows.push(...(suite.summary.slices ?? []).slice(0, MOST_CLASSES).map(each => scoreRow(["passed of ", ...shown(each.tag)], null, each.rate, counted(each.of, "case"))));
  if (rows.length || whole !== null) rows.push(scoreRow("score", null, whole, null));
  return el("li", { class: "scores" }, button, rows.length ? el("ul", null, rows) : null);
}

function scoreRow(name, weight, value, over) {
  return el("li", { class: weight === null ? "whole" : null },
    el("span", { class: "criterion" }, name, weight === null ? null : el("small", null, ` × ${weight}`)),
    scoreBar(value),
    el("span", { class: "number" }, score(value), over ? el("small", { class: "unseen" }, ` over ${over}`) : null));
}

// Links to what stands below the cases, which may be thousands of rows.
function showParts() {
  const parts = [...document.querySelectorAll("main > section:not([hidden]) > h2, #below > section:not([hidden]) > h2")];
  const link = title => {
    const button = el("button", { type: "button" }, title.textContent);
    button.addEventListener("click", () => {
      title.tabIndex = -1;
      title.scrollIntoView();
      title.focus({ preventScroll: true });
    });
    return button;
  };
  document.getElementById("parts").append(...parts.map(link));
}
