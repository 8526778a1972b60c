// From the cases of several agents to a table: a row a case, a column an agent, first what the agents differ in.

const MOST_ROWS = 200;

const agentOf = entry => suites[entry.suite].agentEndpoint;
const ran = cases.filter(entry => entry.status !== "skipped");
const casesOf = agent => ran.filter(entry => agentOf(entry) === agent);

function showAgents() {
  if (agents.length < 2) return;
  const rows = new Map();
  for (const entry of ran) {
    const { suite, tier } = suites[entry.suite];
    const key = JSON.stringify([suite, tier, entry.id]);
    if (!rows.has(key)) rows.set(key, { id: entry.id, entries: [] });
    rows.get(key).entries.push(entry);
  }
  const differs = ({ entries }) => new Set(entries.map(entry => entry.good)).size > 1;
  const ordered = [...rows.values()].sort((one, other) => differs(other) - differs(one));
  const head = el("tr", null, el("th", { scope: "col" }, "Case"), agents.map(agent => el("th", { scope: "col" }, shown(agent), el("small", null, passedOf(agent)))));
  const table = el("table", null, el("thead", null, head), el("tbody", null, ordered.slice(0, MOST_ROWS).map(matrixRow)));
  const more = ordered.length > MOST_ROWS ? el("p", { class: "soft" }, `${counted(ordered.length - MOST_ROWS, "more case")} below; these are the first, and what the agents differ in comes before the rest.`) : null;
  document.getElementById("matrix").append(...[table, more].filter(Boolean));
  document.getElementById("agents").hidden = false;
}

function passedOf(agent) {
  const own = casesOf(agent);
  return `${own.filter(entry => entry.good).length} of ${own.length}`;
}

function matrixRow({ id, entries }) {
  const cell = agent => el("td", null, entries.filter(entry => agentOf(entry) === agent).map(entry => el("a", { href: `#${entry.address}` }, statusLabel(entry.status), entry.score === undefined ? null : ` ${score(entry.score)}`)));
  return el("tr", null, el("th", { scope: "row" }, shown(id)), agents.map(cell));
}

// The latency of each agent on its own: one slow agent would hide the others.
function showLatency() {
  const latency = document.getElementById("latency");
  if (agents.length < 2) latency.append(histogram(cases));
  else for (const agent of agents) latency.append(el("h3", null, shown(agent)), histogram(casesOf(agent)));
}
