// From texts, which may be hostile, to nodes of the page. Nothing else makes nodes, and no text is ever parsed as markup.

// Controls, marks that turn the direction of text, what is invisible, halves of surrogate pairs.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\p{Cs}]|[\u{e0000}-\u{e007f}]/gu;

const codeOf = character => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

// The text with each hidden character as its number: for attributes and for what is searched.
const plain = text => text.replace(HIDDEN, codeOf);

// The text as nodes; each hidden character stands there as its number, marked as such.
function shown(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    nodes.push(text.slice(end, match.index), el("span", { class: "hidden", title: "a character that cannot be seen" }, codeOf(match[0])));
    end = match.index + match[0].length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

function el(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

// Children that are texts become text nodes. An attribute that is null or false is left out.
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

// A list of which the first items stand there, and a button for the rest.
function shortList(items, most, attributes) {
  const list = el("ul", attributes, items);
  if (items.length <= most + 1) return [list];
  const more = el("button", { type: "button", class: "more", "aria-expanded": "false" });
  const fold = short => {
    list.classList.toggle("short", short);
    more.setAttribute("aria-expanded", String(!short));
    more.textContent = short ? `Show ${items.length - most} more` : "Show fewer";
  };
  for (const item of items.slice(most)) item.classList.add("rest");
  more.addEventListener("click", () => fold(!list.classList.contains("short")));
  fold(true);
  return [list, more];
}

// A table that is a list of its rows on a narrow screen, each cell with the head of its column.
function stacked(table) {
  const heads = [...table.tHead.rows[0].cells].map(cell => [...cell.childNodes].filter(node => node.nodeName !== "SMALL").map(node => node.textContent).join(""));
  for (const cell of table.querySelectorAll("tbody td")) cell.dataset.head = heads[cell.cellIndex];
  table.classList.add("stacked");
  return table;
}

// Python cuts long texts: then it is {text, length}.
const textOf = value => (typeof value === "object" && value !== null ? value.text : value ?? "");

const isCut = value => typeof value === "object" && value !== null;

const counted = (count, noun, plural = `${noun}s`) => `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;

function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min ${Math.round((ms % 60_000) / 1000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// Only what is full reads 1.00 and 100 %, and only what is nothing 0.00 and 0 %.
const score = value => (value === null || value === undefined ? "–" : rounded(value));

// Two digits; more where two would read as 0 or as full and the value is neither.
function rounded(value, full = 1, fewest = 2) {
  for (let digits = fewest; digits <= 12; digits++) {
    const text = (Math.floor(value * 10 ** digits + 0.5 + 1e-9) / 10 ** digits).toFixed(digits);
    if (value >= full === Number(text) >= full && value > 0 === Number(text) > 0) return text;
  }
  return String(value);
}

const percent = share => `${Number(rounded(share * 100, 100, 1))} %`;
const dollars = value => `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(2)}`;

// The same in words and signs wherever a status is shown: colour alone says nothing.
const STATUSES = {
  passed: { mark: "✓", word: "passed" },
  failed: { mark: "✗", word: "failed" },
  error: { mark: "!", word: "error" },
  "unexpected-pass": { mark: "✘", word: "unexpected pass" },
  "expected-failure": { mark: "⊘", word: "expected failure" },
  unverified: { mark: "?", word: "unverified" },
  skipped: { mark: "–", word: "skipped" },
};

function statusMark(status) {
  const { mark, word } = STATUSES[status];
  return el("span", { class: `mark ${status}` }, el("span", { "aria-hidden": "true" }, mark), el("span", { class: "unseen" }, word));
}

function statusLabel(status) {
  const { mark, word } = STATUSES[status];
  return el("span", { class: `status ${status}` }, el("span", { class: `mark ${status}`, "aria-hidden": "true" }, mark), el("span", { class: "word" }, ` ${word}`));
}
