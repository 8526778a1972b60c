// From the courses of suites over their runs to a small plot a measure, and to a table that says the same.

const PLOT = { width: 100, height: 40 };

const runIds = new Set(suites.map(suite => suite.runId));

function showHistory() {
  document.getElementById("history").hidden = !run.history.length;
  document.getElementById("courses").append(...run.history.map(courseOf));
}

function courseOf(trend) {
  const { points } = trend;
  const name = `${trend.suite} (${trend.tier})${trend.agentEndpoint === null ? "" : ` · ${trend.agentEndpoint}`}`;
  const found = points.findLastIndex(point => runIds.has(point.run));
  const course = { points, now: found < 0 ? points.length - 1 : found };
  const told = measuresOf(trend).filter(({ values }) => values.some(value => value !== null));
  const runs = points.length < trend.of ? `the last ${points.length} of ${counted(trend.of, "run")}` : counted(trend.of, "run");
  const table = el("details", null, el("summary", null, "As a table", el("span", { class: "unseen" }, " of ", shown(name))), courseTable(name, told, course));
  const still = ({ values }) => values.every(value => value === values[0]);
  if (told.every(still)) {
    const as = told.map(measure => `${measure.name} ${written(measure, measure.values[0])}`).join(", ");
    return el("div", { class: "course still" }, el("h3", null, shown(name), el("small", null, ` unchanged over ${runs}: `, shown(as))), table);
  }
  return el("div", { class: "course" },
    el("h3", null, shown(name), el("small", null, ` ${runs}`)),
    el("ul", null, told.map(measure => courseRow(measure, course))),
    el("div", { class: "axis", "aria-hidden": "true" }, el("span", null, when(points[0]).slice(0, 10)), el("span", null, when(points.at(-1)).slice(0, 10))),
    table);
}

// What is measured in each run: `values` are from 0 to 1, null where a run has none.
function measuresOf(trend) {
  const scored = (name, values) => ({ name, values, text: score, step: change => change.toFixed(2) });
  return [
    { name: "passed", values: trend.points.map(point => point.passRate), text: percent, step: change => (change * 100).toFixed(1) },
    scored("score", trend.points.map(point => point.score)),
    ...trend.criteria.map(name => scored(name, trend.points.map(point => (Object.hasOwn(point.criteria, name) ? point.criteria[name] : null)))),
  ];
}

const when = point => point.timestamp.slice(0, 16).replace("T", " ");
const written = ({ text }, value) => (value === null ? "–" : text(value));

function courseRow(measure, course) {
  const { name, values } = measure;
  const value = values[course.now];
  return el("li", null,
    el("span", { class: "criterion" }, shown(name)),
    courseDrawing(measure, course),
    el("span", { class: "number" }, written(measure, value)),
    changeSince(measure, value, values.slice(0, course.now).findLast(before => before !== null)));
}

function changeSince({ step }, value, before) {
  if (value === null || before === undefined) return el("span", { class: "step" });
  const change = value - before;
  if (!change) return el("span", { class: "step" }, el("span", { "aria-hidden": "true" }, "="), el("span", { class: "unseen" }, "as before"));
  const [way, sign, word] = change > 0 ? ["up", "▲", "up by "] : ["down", "▼", "down by "];
  return el("span", { class: `step ${way}` }, el("span", { "aria-hidden": "true" }, `${sign} `), el("span", { class: "unseen" }, word), step(Math.abs(change)));
}

function courseDrawing(measure, { points, now }) {
  const { name, values } = measure;
  const known = values.filter(value => value !== null);
  const told = `${plain(name)} over ${counted(points.length, "run")}: from ${written(measure, known[0])} to ${written(measure, known.at(-1))}, at least ${measure.text(Math.min(...known))}, at most ${measure.text(Math.max(...known))}`;
  const apart = PLOT.width / Math.max(points.length - 1, 1);
  const spots = values.map((value, index) => (value === null ? null : [index * apart, PLOT.height * (1 - Math.max(0, Math.min(value, 1)))]));
  const line = spots.map((spot, index) => (spot ? `${spots[index - 1] ? "L" : "M"}${spot.join(" ")}` : "")).join("");
  const dot = (spot, kind) => (spot ? svg("path", { d: `M${spot.join(" ")}h0`, class: kind }) : null);
  return svg("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, preserveAspectRatio: "none", role: "img", "aria-label": told },
    [0, 0.5, 1].map(share => svg("path", { d: `M0 ${PLOT.height * share}H${PLOT.width}`, class: "grid" })),
    svg("path", { d: line, class: "line" }),
    spots.map(spot => dot(spot, "dot")),
    dot(spots[now], "ring"), dot(spots[now], "here"),
    points.map((point, index) => svg("g", null,
      svg("title", null, `${when(point)}${index === now ? ", this run" : ""}: ${written(measure, values[index])}`),
      svg("rect", { x: (index - 0.5) * apart, width: apart, y: 0, height: PLOT.height, class: "ground" }))));
}

function courseTable(name, told, { points, now }) {
  const head = (text, scope) => el("th", { scope }, shown(text));
  const rows = points.map((point, index) => el("tr", { "aria-current": index === now ? "true" : null },
    head(when(point), "row"), el("td", { class: "id" }, shown(point.run)),
    told.map(measure => el("td", null, written(measure, measure.values[index])))));
  return stacked(el("table", { class: "facts-table", "aria-label": `Runs of ${plain(name)}` },
    el("thead", null, el("tr", null, head("began (UTC)", "col"), head("run", "col"), told.map(measure => head(measure.name, "col")))),
    el("tbody", null, rows.reverse())));
}
