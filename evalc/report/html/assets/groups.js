// From the reasons of what did not pass to groups, each a button that filters the cases.

const MOST_GROUPS = 6;
const SUITES = new Set(suites.map(({ suite }) => suite)).size;

// By what the reasons have in common, the largest first. What is equal stands in source order.
const groups = new Map();
for (const entry of cases) {
  if (!entry.reason?.group) continue;
  entry.group = entry.reason.group.filter(Boolean).join(": ");
  if (!groups.has(entry.group)) groups.set(entry.group, []);
  groups.get(entry.group).push(entry);
}

function showGroups(choose) {
  const ordered = [...groups].sort(([, one], [, other]) => other.length - one.length);
  const failed = ordered.reduce((sum, [, entries]) => sum + entries.length, 0);
  if (ordered.length === failed) return;
  document.getElementById("groups").hidden = false;
  document.getElementById("groups-title").textContent = `${counted(failed, "case")} did not pass, for ${counted(ordered.length, "reason")}`;
  document.getElementById("reasons").append(...shortList(ordered.map(([group, entries]) => groupRow(group, entries, choose)), MOST_GROUPS, { class: "reasons" }));
}

function groupRow(group, entries, choose) {
  const [{ reason }] = entries;
  // The words themselves where all have the same.
  const same = (text, common) => (entries.every(entry => text(entry) === text(entries[0])) ? text(entries[0]) : common);
  const [check, message] = [same(entry => entry.reason.check, reason.group[0]), same(entry => textOf(entry.reason.message), reason.group[1])];
  const since = entries.filter(entry => entry.change === "regression").length;
  const names = [...new Set(entries.map(entry => suites[entry.suite].suite))];
  const button = el("button", { type: "button", "aria-pressed": "false", "data-group": group, title: "Show only these cases" },
    el("b", null, entries.length.toLocaleString("en")),
    el("span", { class: "said" }, check ? el("code", null, shown(check)) : null, el("span", { class: check ? "why" : null }, shown(message.slice(0, 300)))),
    el("span", { class: "of" },
      SUITES > 1 ? names.slice(0, 2).map(name => el("span", { class: "badge" }, shown(name))) : null,
      since ? el("span", { class: "badge bad" }, `${since.toLocaleString("en")} new`) : null));
  button.addEventListener("click", () => choose(group));
  return el("li", null, button);
}
