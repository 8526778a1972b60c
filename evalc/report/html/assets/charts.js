// From numbers to bars.

const MOST_BINS = 28;

// A bar for a score from 0 to 1; the number stands beside it.
function scoreBar(value) {
  const bar = el("span", { class: value === null || value === undefined ? "bar none" : "bar", "aria-hidden": "true" }, el("span"));
  bar.firstChild.style.width = `${Math.max(0, Math.min(value ?? 0, 1)) * 100}%`;
  return bar;
}

// A bar of the counts of statuses, whose legend says the same in words.
function statusBar(counts, total) {
  const bar = el("div", { class: "shares", "aria-hidden": "true" });
  for (const status of SEVERITY) {
    if (!counts[status] || status === "skipped") continue;
    const share = el("span", { class: `share ${status}` });
    share.style.flexGrow = counts[status] / total;
    bar.append(share);
  }
  return bar;
}

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;

// How long the cases took, the quickest first.
const durationsOf = entries => entries.map(entry => entry.durationMs).filter(ms => ms !== undefined).sort((a, b) => a - b);

// The nearest rank, as the gate on latency has it.
const percentile = (ordered, share) => ordered[Math.ceil(ordered.length * share) - 1];

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5, 10].map(factor => factor * power).find(step => step >= least * (1 - 1e-9));
}

// Equal bins from 0 to twice the 95th percentile; the last one takes what is slower.
function bins(measured, p95) {
  const slowest = measured.at(-1).durationMs;
  const top = Math.max(Math.min(slowest, p95 * 2), 0.001);
  const step = niceStep(top / MOST_BINS);
  const found = Array.from({ length: Math.max(Math.ceil(top / step + 1e-9), 4) }, (_, index) => ({ from: index * step, good: 0, bad: 0 }));
  for (const entry of measured) {
    const bin = found[Math.min(Math.floor(entry.durationMs / step), found.length - 1)];
    bin[entry.good ? "good" : "bad"] += 1;
  }
  return { found, step, end: found.length * step, slowest };
}

function histogram(entries) {
  const measured = entries.filter(entry => entry.durationMs !== undefined).sort((a, b) => a.durationMs - b.durationMs);
  if (!measured.length) return el("p", { class: "soft" }, "No case was run.");
  const durations = measured.map(entry => entry.durationMs);
  const [p50, p95] = [percentile(durations, 0.5), percentile(durations, 0.95)];
  const { found, step, end, slowest } = bins(measured, p95);
  const highest = Math.max(...found.map(bin => bin.good + bin.bad));
  const told = `Half of ${counted(measured.length, "case")} took up to ${duration(p50)}, 95 % up to ${duration(p95)}, the slowest ${duration(slowest)}.`;
  const drawing = svg("svg", { viewBox: `0 0 ${found.length} 100`, preserveAspectRatio: "none", role: "img", "aria-label": told });
  found.forEach((bin, index) => drawing.append(column(bin, index, index === found.length - 1, step, highest)));
  const plot = el("div", { class: "plot" }, drawing);
  for (const [name, value] of [["p50", p50], ["p95", p95]]) {
    const line = el("span", { class: `rule ${name}`, "aria-hidden": "true" }, el("span", null, `${name} ${duration(value)}`));
    const share = Math.min(value / end, 1);
    line.style.left = `${share * 100}%`;
    line.classList.toggle("left", share > 0.7);
    plot.append(line);
  }
  const last = slowest > end ? `${duration(end - step)} and slower` : duration(end);
  return el("figure", null, plot,
    el("div", { class: "axis", "aria-hidden": "true" }, el("span", null, "0"), el("span", null, duration(end / 2)), el("span", null, last)),
    el("figcaption", null, told, measured.some(entry => !entry.good) ? " Orange: did not pass." : null));
}

function column(bin, index, isLast, step, highest) {
  const good = (bin.good / highest) * 100;
  const bad = (bin.bad / highest) * 100;
  const range = isLast ? `${duration(bin.from)} and slower` : `${duration(bin.from)} to ${duration(bin.from + step)}`;
  const box = (height, y, kind) => svg("rect", { x: index + 0.06, width: 0.88, y, height, class: kind });
  return svg("g", null,
    svg("title", null, `${range}: ${bin.good} passed, ${bin.bad} did not`),
    svg("rect", { x: index, width: 1, y: 0, height: 100, class: "ground" }),
    box(good, 100 - good, "good"), bad ? box(bad, 100 - good - bad, "bad") : null);
}
