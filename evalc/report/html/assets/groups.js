// From the reasons of what did not pass to groups, each a button that filters the cases.

const MOST_GROUPS = 6;
const SUITES = new Set(suites.map(({ suite }) => suite)).size;

function showGroups(choose) {
  if (!groups.length) return;
  const byNumber = Map.groupBy(cases.filter(entry => entry.reason?.group !== undefined), entry => entry.reason.group);
  const ordered = [...byNumber].sort(([, one], [, other]) => other.length - one.length);
  const failed = ordered.reduce((sum, [, entries]) => sum + entries.length, 0);
  document.getElementById("groups").hidden = false;
  document.getElementById("groups-title").textContent = `${counted(failed, "case")} did not pass, for ${counted(ordered.length, "reason")}`;
  document.getElementById("reasons").append(...shortList(ordered.map(([number, entries]) => groupRow(number, entries, choose)), MOST_GROUPS, { class: "reasons" }));
}

function groupRow(number, entries, choose) {
  const { check, message } = groups[number];
  const since = entries.filter(entry => entry.change === "regression").length;
  const names = [...new Set(entries.map(entry => suites[entry.suite].suite))];
  const button = el("button", { type: "button", "aria-pressed": "false", "data-group": number, title: "Show only these cases" },
    el("b", null, entries.length.toLocaleString("en")),
    el("span", { class: "said" }, check ? el("code", null, shown(check)) : null, el("span", { class: check ? "why" : null }, shown(message.slice(0, 300)))),
    el("span", { class: "of" },
      SUITES > 1 ? names.slice(0, 2).map(name => el("span", { class: "badge" }, shown(name))) : null,
      since ? el("span", { class: "badge bad" }, `${since.toLocaleString("en")} new`) : null));
  button.addEventListener("click", () => choose(String(number)));
  return el("li", null, button);
}
