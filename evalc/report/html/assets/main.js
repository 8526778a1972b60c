// From what the reader does to what the page shows.

const panel = document.getElementById("details");
const query = document.getElementById("query");
const help = document.getElementById("help");

function changed() {
  show();
  write();
}

function show() {
  const found = chosenCases();
  showAsked();
  showCases(found);
  document.getElementById("count").textContent = found.length === cases.length ? counted(cases.length, "case") : `${found.length.toLocaleString("en")} of ${counted(cases.length, "case")}`;
  document.getElementById("none").hidden = found.length > 0;
  document.getElementById("list").hidden = !found.length;
}

// The address names the open case and what is asked for. `ahead` makes a step that Back undoes.
function write(entry = panel.hidden ? null : list.selected, ahead = false) {
  const [path, own] = (entry?.address ?? "").split("?");
  const params = [own, new URLSearchParams(askedParams()).toString()].filter(Boolean).join("&");
  const address = `#${path}${params && `?${params}`}`;
  if (address !== (location.hash || "#")) history[ahead ? "pushState" : "replaceState"](null, "", address);
}

// From the address to what it names: at first, on Back and Forward, and after a link.
function read() {
  const [path, params = ""] = location.hash.slice(1).split("?");
  const given = new URLSearchParams(params);
  const agent = given.get("agent");
  const entry = byAddress.get(agent === null ? path : `${path}?agent=${encodeURIComponent(agent)}`) ?? byAddress.get(path);
  askFor(given);
  if (entry && !matches(entry, words())) askForAll();
  show();
  if (entry) draw(entry, true);
  else hide();
}

function open(entry, { focus = false } = {}) {
  write(entry, panel.hidden);
  draw(entry, focus);
}

function draw(entry, focus) {
  select(entry);
  const title = el("h2", { id: "details-title", tabindex: "-1" }, shown(entry.id));
  const button = (label, text, act, disabled) => {
    const node = el("button", { type: "button", "aria-label": label, title: label, disabled }, text);
    node.addEventListener("click", act);
    return node;
  };
  const position = list.found.indexOf(entry);
  const buttons = el("div", { class: "buttons" },
    button("Previous case", "↑", () => move(-1), position <= 0),
    button("Next case", "↓", () => move(1), position < 0 || position === list.found.length - 1),
    button("Close", "✕", close));
  const held = panel.contains(document.activeElement);
  panel.replaceChildren(el("div", { class: "panel-head" }, title, buttons), el("div", { class: "panel-body" }, copyButtons(entry), detailsOf(entry)));
  panel.hidden = false;
  panel.scrollTop = 0;
  document.body.classList.add("open");
  setBehind();
  reveal(entry);
  if (focus || held) title.focus({ preventScroll: true });
}

function close() {
  write(null, true);
  hide();
}

function hide() {
  if (panel.hidden) return;
  const entry = list.selected;
  panel.hidden = true;
  panel.replaceChildren();
  document.body.classList.remove("open");
  setBehind();
  if (entry && reveal(entry)) linkOf(entry)?.focus({ preventScroll: true });
}

// On a narrow screen the details cover the page, which is then out of reach for the keyboard too.
const narrow = matchMedia("(max-width: 1079px)");
const setBehind = () => {
  document.getElementById("page").inert = narrow.matches && !panel.hidden;
};

function move(step) {
  const entry = neighbour(step);
  if (!entry) return;
  if (panel.hidden) {
    select(entry);
    reveal(entry);
    linkOf(entry)?.focus({ preventScroll: true });
  } else open(entry);
}

function showAll() {
  askForAll();
  changed();
}

function labelOpen(step) {
  if (!panel.hidden && list.selected.response !== undefined) label(list.selected, "", step);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  y: () => labelOpen(1),
  n: () => labelOpen(0),
  "/": () => query.focus(),
  "?": () => help.showModal(),
  Escape: () => (panel.hidden ? showAll() : close()),
};

// Keys that a control understands itself are left to it.
function taken(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return true;
  return event.target.closest?.("input, select, textarea") && event.key !== "Escape";
}

addEventListener("keydown", event => {
  if (!Object.hasOwn(KEYS, event.key) || taken(event)) return;
  event.preventDefault();
  KEYS[event.key]();
});

query.addEventListener("input", () => {
  asked.query = query.value;
  changed();
});
// A row, or a link to a case from elsewhere in the page.
document.getElementById("page").addEventListener("click", event => {
  const row = event.target.closest(".row");
  const entry = row ? cases[Number(row.dataset.index)] : byAddress.get(event.target.closest("a")?.hash.slice(1));
  if (!entry || event.ctrlKey || event.metaKey || event.shiftKey || getSelection().type === "Range") return;
  event.preventDefault();
  if (!list.found.includes(entry)) askForAll(), show();
  open(entry, { focus: true });
});
document.getElementById("help-button").addEventListener("click", () => help.showModal());
for (const id of ["reset", "clear"]) {
  document.getElementById(id).addEventListener("click", () => {
    showAll();
    query.focus({ preventScroll: true });
  });
}
document.getElementById("save-labels").addEventListener("click", saveLabels);
narrow.addEventListener("change", () => {
  setBehind();
  changed();
});
addEventListener("scroll", drawRows, { passive: true });
addEventListener("resize", drawRows);
addEventListener("hashchange", read);

document.getElementById("page").hidden = false; // without a script there is nothing to see in it
showHead();
showVerdict();
showNotices();
showScores((index, label) => {
  const again = label && asked.label === label && asked.suite === String(index);
  Object.assign(asked, { suite: again ? "" : String(index), label: again ? "" : label });
  changed();
  if (!label) document.getElementById("cases").scrollIntoView();
});
showVersions(version => {
  asked.version = asked.version === version ? "" : version;
  changed();
});
showGroups(group => {
  asked.group = asked.group === group ? "" : group;
  changed();
});
showLatency();
showAgents();
showHistory();
showStrength();
showParts();
showFilters(changed);
showColumns(changed);
showLabels();
read();
