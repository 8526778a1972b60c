// From the totals of the suites to the upper part of the page.

const MOST_NOTES = 3;
const MOST_CLASSES = 30;
const MOST_SUITES = 4;
const MOST_SCORES = 6;
const FEW_SUITES = 2;
const MOST_COLUMNS = 6;

const TIERS = new Set(suites.map(({ tier }) => tier)).size;

const total = name => suites.reduce((sum, suite) => sum + (suite.summary[name] ?? 0), 0);

const counts = {};
for (const entry of [...cases, ...countedOnly]) counts[entry.status] = (counts[entry.status] ?? 0) + 1;

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
    ["agents", agents.length > 1 ? agents.join(", ") : null],
    ["rescored from", first.rescoredFrom],
    ["baseline", suites.find(suite => suite.baselineRunId)?.baselineRunId],
  ];
  document.getElementById("about").append(...facts.filter(([, value]) => value).map(([key, value]) => el("div", null, el("dt", null, key), el("dd", null, shown(value)))));
}

function showVerdict() {
  const [passed, all] = [total("passed"), total("totalCases")];
  const scored = suites.map(suite => suite.summary.score).filter(value => value !== null);
  const times = durationsOf([...cases, ...countedOnly]);
  const tiles = [
    // Of several agents together they would be those of none.
    ["passed", all && agents.length < 2 ? [percent(passed / all), since(entry => Number(entry.good), was => Number(GOOD.has(was.status)), 100, " points")] : null],
    ["score", scored.length && agents.length < 2 ? [score(mean(scored)), since(entry => entry.score, was => was.score, 1, "")] : null],
    ["p95", times.length ? duration(percentile(times, 0.95)) : null],
    ["cost", suites.some(suite => suite.summary.estimatedCostUsd !== undefined) ? dollars(total("estimatedCostUsd")) : null],
  ];
  const [word, why] = run.verdict ?? [null, `${passed.toLocaleString("en")} of ${counted(all, "case")} passed`];
  const title = word ? word[0].toUpperCase() + word.slice(1) : all ? `${percent(passed / all)} passed` : "No case";
  const verdict = document.getElementById("verdict");
  if (word) verdict.classList.add(word);
  verdict.append(
    el("div", { class: "ended" }, el("p", { class: "big" }, word ? el("span", { class: `mark ${word}`, "aria-hidden": "true" }, STATUSES[word].mark) : null, title), el("p", null, why)),
    el("div", { class: "meter" }, statusBar(counts, all), legend()),
    el("dl", { class: "tiles" }, tiles.filter(([, value]) => value !== null).map(([key, value]) => el("div", null, el("dt", null, key), el("dd", null, value)))),
    ...(run.significance ? [el("p", { class: "proved" }, "Since the baseline: ", shown(run.significance.whole))] : []));
}

// By how much a mean has changed since the baseline, over the cases that have it in both.
function since(now, before, times, unit) {
  const both = cases.filter(entry => entry.baseline).map(entry => [now(entry), before(entry.baseline)]).filter(([one, other]) => one !== undefined && other !== undefined);
  if (!both.length) return null;
  const change = mean(both.map(([one, other]) => one - other)) * times;
  const digits = Math.abs(change).toFixed(times === 1 ? 2 : 1);
  if (!Number(digits)) return null;
  const [way, sign, word] = change > 0 ? ["up", "▲", "up by "] : ["down", "▼", "down by "];
  return el("small", { class: `step ${way}` }, el("span", { "aria-hidden": "true" }, ` ${sign} `), el("span", { class: "unseen" }, word), digits + unit);
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
    ...(countedOnly.length ? [`of ${counted(counts.passed, "case")} that passed, ${countedOnly.length.toLocaleString("en")} are only counted here: \`evalc report -o cases.csv\` lists all of them`] : []),
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
  document.getElementById("scores").append(...shortList(suites.map((suite, index) => suiteScores(suite, index, label => choose(index, label))), MOST_SUITES));
}

function suiteScores(suite, index, choose) {
  const { passed, totalCases, score: whole, criteria } = suite.summary;
  const button = el("button", { type: "button", class: "suite", title: "Show only this suite" },
    el("span", { class: "name" }, el("b", null, shown(suite.suite)), TIERS > 1 ? ` ${suite.tier}` : null, agents.length > 1 ? el("small", null, shown(shortName(suite.agentEndpoint))) : null),
    whole === null ? [el("span"), el("span")] : [scoreBar(whole), el("span", { class: "number" }, el("span", { class: "unseen" }, "score "), score(whole))],
    el("span", { class: "of" }, `${passed.toLocaleString("en")} of ${totalCases.toLocaleString("en")}`));
  button.addEventListener("click", () => choose(""));
  const proved = run.significance?.suites.filter(Boolean).length > 1 ? run.significance.suites[index] : null;
  const rows = criteria.map(criterion => scoreRow(shown(criterion.name), criterion.weight, criterion.score, `${criterion.cases} of ${counted(criterion.of, "case")}`));
  const labels = suite.summary.labels;
  const square = labels && labels.classes.length <= MOST_COLUMNS;
  if (!square) {
    rows.push(...(labels?.classes ?? []).slice(0, MOST_CLASSES).map(each => scoreRow(["F1 of ", ...shown(each.name)], null, each.f1, counted(each.recall.of, "case"))));
    const confused = (labels?.confusion ?? []).filter(pair => pair.expected !== pair.predicted).slice(0, MOST_CLASSES);
    rows.push(...confused.map(pair => el("li", null, el("span", { class: "criterion" }, [...shown(pair.expected), " → ", ...givenLabel(pair)]), el("span", null, counted(pair.cases, "case")))));
  }
  rows.push(...(suite.summary.slices ?? []).slice(0, MOST_CLASSES).map(each => scoreRow(["passed of ", ...shown(each.tag)], null, each.rate, counted(each.of, "case"))));
  if (proved) rows.unshift(el("li", { class: "proved" }, shown(proved)));
  return el("li", { class: "scores" }, button, square ? confusionMatrix(labels, index, choose) : null, rows.length ? shortList(rows, suites.length > FEW_SUITES ? 0 : MOST_SCORES) : null);
}

const givenLabel = ({ predicted }) => (predicted === null ? ["no label"] : shown(predicted));

// A row for each class that was right, a column for each that was given; a cell shows its cases.
function confusionMatrix({ classes, confusion }, suite, choose) {
  const names = classes.map(({ name }) => name);
  const given = [...new Set([...names, ...confusion.map(({ predicted }) => predicted)])].sort((a, b) => (a === null) - (b === null));
  const cell = (expected, predicted) => {
    const found = confusion.find(pair => pair.expected === expected && pair.predicted === predicted)?.cases ?? 0;
    if (!found) return el("td", { class: "soft" }, "0");
    const pair = { expected, predicted };
    const label = `${plain(expected)} taken for ${predicted === null ? "no label" : plain(predicted)}: ${counted(found, "case")}`;
    const button = el("button", { type: "button", "aria-label": label, title: label, "aria-pressed": "false", "data-label": labelOf(pair), "data-suite": String(suite) }, found.toLocaleString("en"));
    button.addEventListener("click", () => choose(labelOf(pair)));
    return el("td", { class: expected === predicted ? "right" : "wrong" }, button);
  };
  const head = el("tr", null, el("th", { scope: "col" }, "Expected"), given.map(predicted => el("th", { scope: "col" }, givenLabel({ predicted }))), ["recall", "F1"].map(name => el("th", { scope: "col" }, name)));
  const rows = classes.map(each => el("tr", null, el("th", { scope: "row" }, shown(each.name)), given.map(predicted => cell(each.name, predicted)), [each.recall.value, each.f1].map(value => el("td", null, score(value)))));
  const precision = new Map(classes.map(each => [each.name, each.precision.value]));
  rows.push(el("tr", null, el("th", { scope: "row", class: "soft" }, "precision"), given.map(name => el("td", null, name === null ? null : score(precision.get(name)))), el("td"), el("td")));
  return el("table", { class: "measures confusion", "aria-label": `Classes of ${plain(nameOf(suites[suite]))}` }, el("thead", null, head), el("tbody", null, rows));
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
