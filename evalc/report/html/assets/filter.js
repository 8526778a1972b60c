// From what the reader asks for to the cases in their order.

const ANYTHING = { query: "", suite: "", criterion: "", tag: "", group: "", label: "", version: "" };
const asked = { ...ANYTHING, statuses: new Set(), sort: "status", down: false };

// By status, what did not pass comes first. What is equal stands in source order.
const SORTED_BY = {
  status: entry => (entry.status === "skipped" ? 2 : Number(entry.good)),
  case: entry => entry.id.toLowerCase(),
  score: entry => entry.score ?? 2,
  duration: entry => entry.durationMs ?? -1,
};

const labelOf = ({ expected, predicted }) => JSON.stringify([expected, predicted]);

const words = () => asked.query.toLowerCase().split(/\s+/).filter(Boolean);

function chosenCases() {
  const sought = words();
  return orderedCases().filter(entry => matches(entry, sought));
}

// What is asked for in the address, which a reload and a link keep; a suite by its name.
function askedParams() {
  const { statuses, query, suite, criterion, tag, group, label, version, sort, down } = asked;
  const given = { q: query, suite: suite && nameOf(suites[suite]), criterion, tag, group, label, version, sort: sort === "status" && !down ? "" : sort, down: down && "1" };
  return [...[...statuses].map(status => ["status", status]), ...Object.entries(given).filter(([, value]) => value)];
}

function askFor(params) {
  const one = name => params.get(name) ?? "";
  const suite = suites.findIndex(each => nameOf(each) === one("suite"));
  const sort = Object.hasOwn(SORTED_BY, one("sort")) ? one("sort") : "status";
  asked.statuses = new Set(params.getAll("status"));
  Object.assign(asked, { query: one("q"), suite: suite < 0 ? "" : String(suite), criterion: one("criterion"), tag: one("tag"), group: one("group"), label: one("label"), version: one("version"), sort, down: params.has("down") });
}

// All cases in the order that is asked for, sorted again only where it is another one: not with each letter of a search.
let ordered = { by: "", cases: [] };
function orderedCases() {
  const by = `${asked.sort} ${asked.down}`;
  if (ordered.by !== by) {
    const way = asked.down ? -1 : 1;
    const keyed = cases.map(entry => ({ entry, key: SORTED_BY[asked.sort](entry) }));
    keyed.sort((a, b) => (a.key < b.key ? -way : a.key > b.key ? way : a.entry.index - b.entry.index));
    ordered = { by, cases: keyed.map(({ entry }) => entry) };
  }
  return ordered.cases;
}

function matches(entry, words) {
  if (asked.statuses.size && !asked.statuses.has(entry.status) && !asked.statuses.has(entry.change) && !(entry.flaky && asked.statuses.has("flaky"))) return false;
  if (asked.suite !== "" && entry.suite !== Number(asked.suite)) return false;
  if (asked.group && String(entry.reason?.group) !== asked.group) return false;
  if (asked.label && (!entry.label || labelOf(entry.label) !== asked.label)) return false;
  if (asked.version && versionOf(entry) !== asked.version) return false;
  if (asked.tag && !entry.tags.includes(asked.tag)) return false;
  if (asked.criterion && !entry.criteria.some(({ name, score: value }) => name === asked.criterion && value !== null && value < 1)) return false;
  return words.every(word => searched(entry).includes(word));
}

// The buttons and lists of the tool bar; `changed` is called after each choice.
function showFilters(changed) {
  const found = [...SEVERITY, "regression", "new pass", "flaky"].map(name => [name, cases.filter(entry => entry.status === name || entry.change === name || (name === "flaky" && entry.flaky)).length]);
  document.getElementById("statuses").append(...found.filter(([, count]) => count).map(([name, count]) => statusButton(name, count, changed)));
  const names = values => [...new Set(values)].sort().map(value => [value, value]);
  document.getElementById("choices").append(
    choice("suite", "All suites", suites.map((suite, index) => [String(index), nameOf(suite)]), changed),
    choice("criterion", "All criteria", names(cases.flatMap(entry => entry.criteria.map(({ name }) => name))).map(([value]) => [value, `below 1: ${value}`]), changed),
    choice("tag", "All tags", names(cases.flatMap(entry => entry.tags)), changed));
}

function statusButton(name, count, changed) {
  const button = el("button", { type: "button", "aria-pressed": "false", "data-status": name },
    name in STATUSES ? statusLabel(name) : el("span", { class: "status" }, name), el("span", { class: "tally" }, ` ${count.toLocaleString("en")}`));
  button.addEventListener("click", () => {
    if (!asked.statuses.delete(name)) asked.statuses.add(name);
    changed();
  });
  return button;
}

function choice(key, all, options, changed) {
  const select = el("select", { "aria-label": `Filter by ${key}`, "data-choice": key, hidden: options.length < (key === "suite" ? 2 : 1) },
    el("option", { value: "" }, all), options.map(([value, label]) => el("option", { value }, plain(label))));
  select.addEventListener("change", () => {
    asked[key] = select.value;
    changed();
  });
  return select;
}

// The tool bar as it was asked for, also where a button elsewhere asked.
function showAsked() {
  for (const button of document.querySelectorAll("#statuses button")) button.setAttribute("aria-pressed", String(asked.statuses.has(button.dataset.status)));
  for (const button of document.querySelectorAll("#reasons [data-group]")) button.setAttribute("aria-pressed", String(asked.group === button.dataset.group));
  for (const button of document.querySelectorAll("[data-label]")) button.setAttribute("aria-pressed", String(asked.label === button.dataset.label && asked.suite === button.dataset.suite));
  for (const button of document.querySelectorAll("[data-version]")) button.setAttribute("aria-pressed", String(asked.version === button.dataset.version));
  document.getElementById("clear").hidden = !isAsked();
  for (const select of document.querySelectorAll("#choices select")) select.value = asked[select.dataset.choice];
  const query = document.getElementById("query");
  if (query.value !== asked.query) query.value = asked.query;
}

const isAsked = () => asked.statuses.size > 0 || Object.keys(ANYTHING).some(key => asked[key]);

function askForAll() {
  asked.statuses.clear();
  Object.assign(asked, ANYTHING);
}
