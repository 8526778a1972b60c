// From two texts to the words that only one of them has.

const LARGEST_TABLE = 1_500_000;

// Parts as [kind, text], the kind being "same", "gone" or "new", which together are both texts.
function differences(before, after) {
  const [a, b] = [before, after].map(text => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const parts = [["same", a.slice(0, start)], ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)), ["same", a.slice(a.length - end)]];
  return parts.map(([kind, words]) => [kind, words.join("")]).filter(([, text]) => text);
}

// The longest words in common, by the usual table; where that would be too large, all has changed.
function middle(a, b) {
  if (a.length * b.length > LARGEST_TABLE) return [["gone", a], ["new", b]];
  const wide = b.length + 1;
  const table = new Uint32Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * wide + j] = a[i] === b[j] ? table[(i + 1) * wide + j + 1] + 1 : Math.max(table[(i + 1) * wide + j], table[i * wide + j + 1]);
    }
  }
  const parts = [];
  const add = (kind, word) => (parts.at(-1)?.[0] === kind ? parts.at(-1)[1].push(word) : parts.push([kind, [word]]));
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) add("same", a[i++]), (j += 1);
    else if (j >= b.length || (i < a.length && table[(i + 1) * wide + j] >= table[i * wide + j + 1])) add("gone", a[i++]);
    else add("new", b[j++]);
  }
  return parts;
}

// One side of the comparison as nodes: what only it has is marked, by more than colour.
function side(parts, kind, nodes) {
  const name = kind === "gone" ? "del" : "ins";
  return parts.filter(([part]) => part === "same" || part === kind).map(([part, text]) => (part === "same" ? nodes(text) : el(name, null, nodes(text))));
}
