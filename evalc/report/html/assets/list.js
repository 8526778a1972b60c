// From the chosen cases to rows, of which only those on the screen are there: ten thousand scroll like ten.

const OVERSCAN = 6;
const COLUMNS = [["status", "Status"], ["case", "Case"], ["score", "Score"], ["duration", "Time"]];

const list = { found: [], selected: null, rows: new Map(), height: 0 };
const rowsNode = document.getElementById("rows");

function showColumns(changed) {
  document.getElementById("columns").append(...COLUMNS.map(([key, label]) => {
    const button = el("button", { type: "button", "data-sort": key }, label, el("span", { class: "way", "aria-hidden": "true" }));
    button.addEventListener("click", () => {
      asked.down = asked.sort === key && !asked.down;
      asked.sort = key;
      changed();
    });
    return el("div", { role: "columnheader", class: `cell ${key}` }, button);
  }));
}

// Show these cases from now on.
function showCases(found) {
  list.found = found;
  list.height = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
  rowsNode.style.height = `${found.length * list.height}px`;
  rowsNode.replaceChildren();
  list.rows.clear();
  document.getElementById("list").setAttribute("aria-rowcount", found.length + 1);
  for (const header of document.querySelectorAll("#columns [role=columnheader]")) {
    const mine = header.firstChild.dataset.sort === asked.sort;
    header.setAttribute("aria-sort", mine ? (asked.down ? "descending" : "ascending") : "none");
  }
  drawRows();
}

// Add the rows that have come onto the screen, in their order, and take away those that have left it.
function drawRows() {
  const above = -rowsNode.getBoundingClientRect().top;
  const first = Math.max(Math.floor(above / list.height) - OVERSCAN, 0);
  const end = Math.min(Math.ceil((above + innerHeight) / list.height) + OVERSCAN, list.found.length);
  for (const [position, row] of list.rows) {
    if (position < first || position >= end) {
      row.remove();
      list.rows.delete(position);
    }
  }
  let next = null;
  for (let position = end - 1; position >= first; position -= 1) {
    let row = list.rows.get(position);
    if (!row) {
      row = rowOf(list.found[position], position);
      list.rows.set(position, row);
      rowsNode.insertBefore(row, next);
    }
    next = row;
  }
}

function rowOf(entry, position) {
  const row = el("div", { role: "row", class: "row", "aria-rowindex": position + 2, "data-index": entry.index, "aria-current": entry === list.selected ? "true" : null },
    el("div", { role: "cell", class: "cell status" }, statusLabel(entry.status)),
    el("div", { role: "cell", class: "cell case" },
      el("a", { href: `#${entry.address}` }, shown(entry.id)), ...badges(entry),
      el("span", { class: "why" }, shown(textOf(reasonOf(entry) || sentTo(entry) || entry.description).slice(0, 300)))),
    el("div", { role: "cell", class: "cell score" }, entry.score === undefined ? null : [scoreBar(entry.score), score(entry.score)]),
    el("div", { role: "cell", class: "cell duration" }, duration(entry.durationMs)));
  row.style.transform = `translateY(${position * list.height}px)`;
  return row;
}

function badges(entry) {
  const words = [entry.change, entry.flaky && "flaky", entry.attempts && `${entry.attempts.filter(attempt => GOOD.has(attempt.status)).length}/${entry.attempts.length}`];
  return [
    ...words.filter(Boolean).map(word => el("span", { class: `badge ${word === "regression" ? "bad" : ""}` }, word)),
    ...(agents.length > 1 ? [el("span", { class: "badge" }, shown(shortName(agentOf(entry))))] : []),
    ...entry.tags.slice(0, 3).map(tag => el("span", { class: "badge tag" }, shown(tag))),
  ];
}

function select(entry) {
  list.selected = entry;
  for (const row of list.rows.values()) {
    if (entry && Number(row.dataset.index) === entry.index) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

// Bring the case's row onto the screen; true where it is in the list.
function reveal(entry) {
  const position = list.found.indexOf(entry);
  if (position < 0) return false;
  const top = rowsNode.getBoundingClientRect().top + position * list.height;
  const bar = document.getElementById("tools").offsetHeight + list.height;
  if (top < bar) scrollBy(0, top - bar);
  else if (top + list.height > innerHeight) scrollBy(0, top + list.height * 2 - innerHeight);
  drawRows();
  return true;
}

// The case that stands `step` rows after the selected one, else the first on the list.
function neighbour(step) {
  const position = list.found.indexOf(list.selected);
  return list.found[position < 0 ? 0 : Math.min(Math.max(position + step, 0), list.found.length - 1)] ?? null;
}

const linkOf = entry => rowsNode.querySelector(`[data-index="${entry.index}"] a`);
