// From what a challenge found to what the checks would miss, and from the coverage to what no case looks at.

function showStrength() {
  const { strength, coverage } = run;
  if (strength) {
    document.getElementById("challenged").append(...strengthParts(strength));
    document.getElementById("strength").hidden = false;
  }
  if (coverage) {
    document.getElementById("covered").append(...coverageParts(coverage));
    document.getElementById("coverage").hidden = false;
  }
}

function strengthParts(strength) {
  if (strength.strength === null) return [el("p", null, "Nothing was challenged."), ...notesOf(strength)];
  const undecided = strength.undecided ? ` ${strength.undecided.toLocaleString("en")} more could not be decided.` : "";
  const said = el("p", null, el("b", null, score(strength.strength)), ` ${strength.killed.toLocaleString("en")} of ${counted(strength.mutants, "fault")} noticed.${undecided}`);
  return [said, ...suiteStrengths(strength), ...weakCases(strength), ...idleChecks(strength), ...notesOf(strength)];
}

function suiteStrengths({ suites }) {
  if (suites.length < 2) return [];
  const item = each => el("li", null, shown(each.title), ": ", el("b", null, score(each.strength)), ` ${each.killed} of ${counted(each.mutants, "fault")} noticed`);
  return [el("ul", { class: "missed-list" }, suites.map(item))];
}

const notesOf = strength => strength.notes.map(note => el("p", { class: "soft" }, shown(note)));

// A row a case that misses something, a column a fault; the lines that would notice it stand below.
function weakCases({ challengers, cases: weak, casesOf }) {
  const column = ({ name, killed, mutants }) => el("th", { scope: "col" }, name, el("small", null, ` ${killed} of ${mutants}`));
  const head = el("tr", null, el("th", { scope: "col" }, "Case"), challengers.map(column));
  const table = el("table", { class: "facts-table", "aria-label": "Faults noticed, case by case" }, el("thead", null, head), el("tbody", null, weak.map(entry => weakRow(entry, challengers))));
  const first = weak.length < casesOf ? [el("p", { class: "soft" }, `The weakest ${weak.length} of ${counted(casesOf, "case")} that miss faults.`)] : [];
  if (!weak.length) table.lastChild.remove();
  return [
    stacked(table),
    ...first,
    weak.length ? el("details", null, el("summary", null, `What ${counted(casesOf, "case")} miss${casesOf === 1 ? "es" : ""}`), weak.map(missedBy)) : null,
  ].filter(Boolean);
}

function weakRow(entry, challengers) {
  const own = new Map(entry.challengers.map(each => [each.name, each]));
  const cell = ({ name }) => {
    const each = own.get(name);
    if (!each) return el("td", { class: "soft" }, "–");
    const good = each.killed === each.mutants;
    return el("td", { class: good ? "noticed" : "missed" }, el("span", { "aria-hidden": "true" }, good ? "✓ " : "✗ "), `${each.killed} of ${each.mutants}`);
  };
  return el("tr", null, el("th", { scope: "row" }, caseLink(entry), entry.more ? el("small", null, ` and ${counted(entry.more, "more case")}`) : null), challengers.map(cell));
}

function caseLink({ suite, tier, id }) {
  const address = addressed({ suite, tier }, id);
  return byAddress.has(address) ? el("a", { href: `#${address}` }, shown(id)) : el("span", null, shown(id));
}

function missedBy(entry) {
  const more = entry.survivorsOf - entry.survivors.length;
  const line = each => (each.line === null ? null : el("span", { class: "cure" }, `${each.words}: `, el("code", null, shown(each.line))));
  return el("details", null,
    el("summary", null, shown(entry.id), ` misses ${entry.mutants - entry.killed} of ${entry.mutants}`),
    el("ul", { class: "missed-list" },
      entry.survivors.map(each => el("li", null, el("b", null, each.fault), ": ", shown(each.difference), each.times > 1 ? ` (${each.times} times)` : null, line(each))),
      more > 0 ? el("li", null, `${more} more`) : null));
}

function idleChecks({ idle, idleOf, untried, untriedOf }) {
  return [
    ...checkList(idle, idleOf, `${counted(idleOf, "check")} noticed nothing`),
    ...checkList(untried, untriedOf, `${counted(untriedOf, "check")} ${untriedOf === 1 ? "was" : "were"} not tried: no fault changes what ${untriedOf === 1 ? "it looks" : "they look"} at`),
  ];
}

function checkList(checks, checksOf, title) {
  if (!checks.length) return [];
  const faults = each => (each.mutants ? `, ${counted(each.mutants, "fault")}` : "");
  const item = each => el("li", null, el("code", null, shown(each.check)), " ", el("small", null, shown(each.where), faults(each)));
  const more = checksOf - checks.length;
  return [el("details", null,
    el("summary", null, title),
    el("ul", { class: "missed-list" }, checks.map(item), more > 0 ? el("li", null, `${more} more`) : null))];
}

function coverageParts(coverage) {
  const total = coverage.none ?? [el("b", null, score(coverage.coverage)), ` ${coverage.covered.toLocaleString("en")} of ${coverage.total.toLocaleString("en")} covered.`];
  return [
    el("p", null, total),
    ...coverage.parts.map(partOf),
  ];
}

function partOf({ words, total, covered, missing }) {
  const said = el("p", null, `${covered.toLocaleString("en")} of ${total.toLocaleString("en")} ${words}`, scoreBar(total ? covered / total : null));
  if (!missing.length) return said;
  const more = total - covered - missing.length;
  return el("div", null, said, el("details", null,
    el("summary", null, `${(total - covered).toLocaleString("en")} not covered`, el("span", { class: "unseen" }, `: ${words}`)),
    el("ul", { class: "missed-list" }, missing.map(name => el("li", null, shown(name))), more > 0 ? el("li", null, `${more} more`) : null)));
}
