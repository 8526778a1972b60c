// From the cases of several agents to a table: a row a case, a column an agent, first what the agents differ in.

const MOST_ROWS = 200;
const MOST_MEASURES = 40;
const MOST_BESIDE = 3;
const LONG_NAME = 9;

const agentOf = entry => suites[entry.suite].agentEndpoint;
const ran = cases.filter(entry => entry.status !== "skipped");
const casesOf = agent => ran.filter(entry => agentOf(entry) === agent);

// A column for each agent and variant of a prompt, a row for each measure, the best of it bold.
function showVersions(choose) {
  const columns = Map.groupBy(ran, versionOf);
  if (columns.size < 2) return;
  const criteria = new Set(ran.flatMap(entry => entry.criteria.map(({ name }) => JSON.stringify([SUITES > 1 ? suites[entry.suite].suite : null, name]))));
  const known = value => value !== undefined && value !== null;
  const meanOf = values => (values.some(known) ? mean(values.filter(known)) : null);
  const quick = (entries, share) => percentile(durationsOf(entries), share) ?? null;
  const measures = [
    ["passed", entries => meanOf(entries.map(entry => Number(entry.good))), percent, 1],
    ["score", entries => meanOf(entries.map(entry => entry.score)), score, 1],
    ...[...criteria].map(key => {
      const [suite, name] = JSON.parse(key);
      const own = entry => suite === null || suites[entry.suite].suite === suite;
      return [[suite, name].filter(Boolean).join(" › "), entries => meanOf(entries.filter(own).flatMap(entry => entry.criteria.filter(each => each.name === name).map(each => each.score))), score, 1];
    }),
    ["p50", entries => quick(entries, 0.5), duration, -1],
    ["p95", entries => quick(entries, 0.95), duration, -1],
    ["cost", entries => (entries.some(entry => known(entry.usage?.costUsd)) ? entries.reduce((sum, entry) => sum + (entry.usage?.costUsd ?? 0), 0) : null), dollars, -1],
  ];
  const head = el("tr", null, el("td"), [...columns.keys()].map(version => {
    const button = el("button", { type: "button", "aria-pressed": "false", "data-version": version, title: "Show only these cases" }, shown(version));
    button.addEventListener("click", () => choose(version));
    return el("th", { scope: "col", class: version.length > LONG_NAME ? "long" : null }, button);
  }));
  const rows = measures.map(([name, measure, text, way]) => {
    const values = [...columns.values()].map(measure);
    const best = Math.max(...values.filter(known).map(value => value * way));
    const differ = new Set(values).size > 1;
    const cell = value => {
      if (value === null) return el("td", { class: "soft" }, "–");
      const node = el("td", { class: differ && value * way === best ? "best" : null }, text(value));
      if (way > 0) node.style.setProperty("--behind", `${Math.min((best - value) * 150, 30)}%`);
      return node;
    };
    return values.some(known) ? el("tr", null, el("th", { scope: "row" }, shown(name)), values.map(cell)) : null;
  }).filter(Boolean);
  const table = el("table", { class: "measures" }, el("thead", null, head), el("tbody", null, rows.slice(0, MOST_MEASURES)));
  document.getElementById("compared").append(columns.size > MOST_BESIDE ? stacked(table) : table);
  document.getElementById("versions").classList.toggle("broad", columns.size > MOST_BESIDE);
  document.getElementById("versions").hidden = false;
  document.getElementById("versions-title").textContent = agents.length > 1 ? "Agents" : "Prompts";
  document.getElementById("below").prepend(document.getElementById("suites"));
}

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
  const head = el("tr", null, el("th", { scope: "col" }, "Case"), agents.map(agent => el("th", { scope: "col" }, shown(shortName(agent)), el("small", null, passedOf(agent)))));
  const table = el("table", null, el("thead", null, head), el("tbody", null, ordered.slice(0, MOST_ROWS).map(matrixRow)));
  const more = ordered.length > MOST_ROWS ? el("p", { class: "soft" }, `${counted(ordered.length - MOST_ROWS, "more case")} below; these are the first, and what the agents differ in comes before the rest.`) : null;
  document.getElementById("matrix").append(...[pairedWords([...rows.values()]), stacked(table), more].filter(Boolean));
  document.getElementById("agents").hidden = false;
}

// Of two agents: the cases that only one of them passes, and how likely flips as uneven as these are by chance.
function pairedWords(rows) {
  const pairs = rows.map(({ entries }) => agents.map(agent => entries.filter(entry => agentOf(entry) === agent)));
  const whole = pairs.filter(pair => pair.every(entries => entries.length === 1)).map(pair => pair.map(([entry]) => entry.good));
  const [one, other] = [whole.filter(([a, b]) => a && !b).length, whole.filter(([a, b]) => b && !a).length];
  if (agents.length !== 2 || one + other === 0) return null;
  const flips = one + other;
  let [term, sum] = [0.5 ** flips, 0];
  for (let count = 0; count <= Math.min(one, other); count += 1) [sum, term] = [sum + term, (term * (flips - count)) / (count + 1)];
  const p = Math.min(1, 2 * sum);
  const words = p > 0.05 ? "may be chance" : "more than chance";
  return el("p", null, `Passed by ${shortName(agents[0])} alone: ${one}, by ${shortName(agents[1])} alone: ${other}; ${words} (McNemar’s exact test, p ${p < 0.0001 ? "< 0.0001" : `= ${p.toPrecision(3)}`}).`);
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
  if (agents.length < 2) latency.append(histogram([...cases, ...countedOnly]));
  else for (const agent of agents) latency.append(el("h3", null, shown(shortName(agent))), histogram(casesOf(agent)));
}
