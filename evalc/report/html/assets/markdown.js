// From an answer in Markdown to nodes. HTML in it stays text, and images are links: nothing is loaded.

const DEEPEST = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3}(?:[-*+]|(\d{1,9})[.)]))(?: (.*)|$)/;
const DELIMITER = /^[ \t]*:?-+:?[ \t]*$/;
const ADDRESS = /^(https?:\/\/|mailto:)/i;

// Where markup in a line may begin, and what it may be. Lengths are bounded, since answers may be hostile.
const MARKUP = /[\\`![<*_~]| {2,}\n/g;
const INLINE = [
  [/(?: {2,}|\\)\n/y, () => el("br")],
  [/\\([!-/:-@[-`{-~])/y, ([, character]) => character],
  [/(`{1,3})(?!`)([^]{1,2000}?)(?<!`)\1(?!`)/y, ([, , code]) => el("code", null, shown(code))],
  [/(!?)\[([^[\]]{0,500})\]\(([^\s()<>]{1,2000}(?:\([^\s()]{0,500}\))?)(?: +"[^"]{0,500}")?\)/y, ([, image, text, address]) => linkTo(address, inline(`${image && "image: "}${text || address}`))],
  [/<([a-z]+:[^\s<>]{1,2000})>/iy, ([whole, address]) => (ADDRESS.test(address) ? linkTo(address, shown(address)) : shown(whole))],
  [/(\*\*|__)(?=\S)([^]{1,2000}?)(?<=\S)\1(?!\*)/y, ([, , text]) => el("strong", null, inline(text))],
  [/\*(?=[^\s*])([^*]{1,2000})(?<=\S)\*|(?<![\p{L}\p{N}])_(?=[^\s_])([^_]{1,2000})(?<=\S)_(?![\p{L}\p{N}])/uy, ([, stars, lines]) => el("em", null, inline(stars ?? lines))],
  [/~~(?=\S)([^~]{1,2000})~~/y, ([, text]) => el("s", null, inline(text))],
];

// True of a text that Markdown shows in another way. JSON is not meant so.
const isMarkdown = text => !/^\s*[{[]/.test(text) && /^ {0,3}(#{1,6} |[-*+] \S|\d{1,9}[.)] \S|> |```|~~~|\|.*\|)|\*\*\S|`[^`\n]+`|\]\([^\s)]+\)/m.test(text);

const markdown = text => el("div", { class: "markdown", dir: "auto" }, blocksIn(text.split("\n")));

// Each reader takes the block that begins at a line, and says where it ends; null where there is another block.
const READERS = [fencedCode, oneLine, tableIn, quoteIn, listIn, paragraphIn];

function blocksIn(lines, depth = 0) {
  const nodes = [];
  for (let at = 0; at < lines.length; ) {
    if (!lines[at].trim()) at += 1;
    else {
      const readers = depth < DEEPEST ? READERS : [paragraphIn];
      const [node, end] = readers.reduce((found, reader) => found ?? reader(lines, at, depth), null);
      nodes.push(node);
      at = end;
    }
  }
  return nodes;
}

function fencedCode(lines, at) {
  const [, fence] = lines[at].match(FENCE) ?? [];
  if (!fence) return null;
  const closed = lines.findIndex((line, index) => index > at && line.trim().startsWith(fence) && !line.trim().replaceAll(fence[0], ""));
  const end = closed < 0 ? lines.length : closed;
  return [el("pre", null, shown(lines.slice(at + 1, end).join("\n"))), end + 1];
}

// A heading has no level here: the page has its own.
function oneLine(lines, at) {
  const heading = lines[at].match(HEADING);
  if (heading) return [el("p", { class: `heading level-${heading[1].length}` }, inline((heading[2] ?? "").replace(/[ \t]+#+[ \t]*$/, ""))), at + 1];
  return RULE.test(lines[at]) ? [el("hr"), at + 1] : null;
}

const cellsOf = line => line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/);

function tableIn(lines, at) {
  if (!lines[at].includes("|") || at + 1 === lines.length) return null;
  const [heads, rules] = [cellsOf(lines[at]), cellsOf(lines[at + 1])];
  if (heads.length !== rules.length || !rules.every(cell => DELIMITER.test(cell))) return null;
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end += 1;
  const sides = rules.map(rule => (/:\s*$/.test(rule) ? (/^\s*:/.test(rule) ? "center" : "right") : null));
  const row = cells => el("tr", null, heads.map((_, index) => el("td", { class: sides[index] }, inline((cells[index] ?? "").trim()))));
  const head = el("tr", null, heads.map((cell, index) => el(cell.trim() ? "th" : "td", { class: sides[index], scope: cell.trim() ? "col" : null }, inline(cell.trim()))));
  return [el("table", null, el("thead", null, head), el("tbody", null, lines.slice(at + 2, end).map(line => row(cellsOf(line))))), end];
}

function quoteIn(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end += 1;
  return end === at ? null : [el("blockquote", null, blocksIn(lines.slice(at, end).map(line => line.replace(QUOTE, "")), depth + 1)), end];
}

function listIn(lines, at, depth) {
  const first = lines[at].match(ITEM);
  if (!first) return null;
  const items = [];
  let end = at;
  while (end < lines.length) {
    const item = lines[end].match(ITEM);
    const width = items.at(-1)?.width;
    const line = lines[end];
    if (items.length && line.trim() && line.search(/\S/) >= width) items.at(-1).lines.push(line.slice(width));
    else if (item && Boolean(item[2]) === Boolean(first[2])) items.push({ width: Math.min(item[1].length + 1, 4), lines: [item[3] ?? ""] });
    else if (!line.trim()) items.at(-1).lines.push("");
    else if (items.at(-1).lines.at(-1) && !beginsBlock(lines, end)) items.at(-1).lines.push(line.trim());
    else break;
    end += 1;
  }
  const itemNodes = ({ lines: own }) => {
    const blocks = blocksIn(own, depth + 1);
    return el("li", null, blocks.length === 1 && blocks[0].matches("p:not([class])") ? [...blocks[0].childNodes] : blocks);
  };
  return [el(first[2] ? "ol" : "ul", { start: first[2] }, items.map(itemNodes)), end];
}

const beginsBlock = (lines, at) => [FENCE, HEADING, RULE, QUOTE].some(pattern => pattern.test(lines[at])) || /^ {0,3}([-*+]|1[.)]) \S/.test(lines[at]) || tableIn(lines, at) !== null;

function paragraphIn(lines, at) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !beginsBlock(lines, end)) end += 1;
  return [el("p", null, inline(lines.slice(at, end).map(line => line.trimStart()).join("\n"))), end];
}

function inline(text) {
  const nodes = [];
  let end = 0;
  MARKUP.lastIndex = 0;
  for (let found = MARKUP.exec(text); found; found = MARKUP.exec(text)) {
    const at = found.index;
    const [match, make] = INLINE.reduce((already, [pattern, node]) => {
      if (already[0]) return already;
      pattern.lastIndex = at;
      return [pattern.exec(text), node];
    }, []);
    if (match) {
      nodes.push(...shown(text.slice(end, at)), make(match));
      end = at + match[0].length;
    }
    MARKUP.lastIndex = match ? end : at + 1;
  }
  return [...nodes, ...shown(text.slice(end))];
}

function linkTo(address, nodes) {
  if (!ADDRESS.test(address)) return el("span", null, nodes, " (", shown(address), ")");
  return el("a", { href: address, rel: "noopener noreferrer nofollow", target: "_blank", title: plain(address) }, nodes);
}
