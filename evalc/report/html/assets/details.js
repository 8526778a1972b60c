// From a case to all that is known of it.

const COLLAPSED_LINES = 24;
const LONGEST_CALL = 400;

const detailsOf = entry => [
  ...gistOf(entry),
  part("All checks", assertionsOf(entry, entry.assertions ?? [], false)),
  part("Scores", entry.criteria.length ? el("ul", { class: "criteria" }, entry.criteria.map(criterionRow)) : null),
  part("Your verdict", verdictOf(entry)),
  part("Attempts", attemptsOf(entry)),
  entry.skippedTokens?.length ? part("Values that were not there", el("p", null, shown(entry.skippedTokens.join(", ")))) : null,
];

// How the case ended and why, and what was said and called.
function gistOf(entry) {
  const suite = suites[entry.suite];
  return [
    el("div", { class: "facts" }, statusLabel(entry.status), ...badges(entry), fact("score", entry.score === undefined ? "" : score(entry.score)), fact("time", duration(entry.durationMs)), ...usageOf(entry), fact("suite", nameOf(suite)), fact("variant", entry.variant), fact("finish reason", entry.finishReason)),
    textOf(entry.description) ? el("p", { class: "description" }, shown(textOf(entry.description))) : null,
    entry.place ? el("p", { class: "place" }, shown(placed(entry.place))) : null,
    entry.row ? el("p", { class: "place" }, shown(`row ${entry.row.file}:${entry.row.line}`)) : null,
    reason(entry),
    assertionsOf(entry, failedOf(entry), true),
    ...(entry.turns ? conversation(entry) : [...sentOf(entry), part(othersOf(entry).length ? "Side by side" : "Response", responses(entry))]),
    part("Tool calls", callsOf(entry, entry.turns ? [] : entry.toolCalls)),
    part("Files", filesOf(entry)),
  ];
}

const placed = place => `${place.file}:${place.line}:${place.column}`;

const fact = (name, value) => (value ? el("span", { class: "fact" }, el("small", null, `${name} `), shown(value)) : null);

function usageOf(entry) {
  const { inputTokens, outputTokens, costUsd } = entry.usage ?? {};
  const tokens = [inputTokens !== undefined && `${inputTokens} in`, outputTokens !== undefined && `${outputTokens} out`].filter(Boolean).join(", ");
  return [fact("tokens", tokens), fact("cost", costUsd === undefined ? "" : dollars(costUsd))];
}

const part = (title, content) => (content ? el("section", null, el("h3", null, title), content) : null);

const failedOf = entry => (entry.assertions ?? []).filter(({ outcome }) => outcome === "failed" || outcome === "error");

// What no check says, such as an answer that did not come.
function reason(entry) {
  const text = reasonOf(entry);
  const said = failedOf(entry).some(each => text.endsWith(each.message ?? "\n"));
  return text && !said ? el("p", { class: `reason ${entry.status}` }, shown(text)) : null;
}

function assertionsOf(entry, assertions, inFull) {
  if (!assertions.length) return null;
  return el("ul", { class: inFull ? "assertions failing" : "assertions" }, assertions.map(assertion => el("li", null,
    statusMark(assertion.outcome),
    el("div", null,
      el("span", { class: "at" }, shown(checkOf(assertion))),
      inFull && assertion.message ? el("p", null, shown(assertion.message)) : null,
      inFull || assertion.outcome === "passed" ? judged(assertion.judged) : null,
      inFull ? excerpt(assertion.place) : null))));
}

// The check's line; of results without one its pointer, as `checks > 0`.
const checkOf = assertion => assertion.line ?? assertion.at.replace(/^\/expect\//, "").replaceAll("/", " › ").replaceAll("~1", "/").replaceAll("~0", "~");

function judged(said) {
  if (!said) return null;
  const spread = said.spread ? `, ${said.spread} apart` : "";
  return el("p", { class: "judged" }, el("b", null, `Judge: ${said.score} of ${said.maxScore}${spread}. `), said.reason ? shown(said.reason) : null);
}

function excerpt(place) {
  if (!place) return null;
  const source = sources[place.file];
  const lines = Object.entries(source?.lines ?? {}).map(([number, text]) => [Number(number), text]).filter(([number]) => Math.abs(number - place.line) <= 1);
  const indented = Math.min(...lines.filter(([, text]) => text.trim()).map(([, text]) => text.search(/\S/)));
  return el("figure", { class: "excerpt" },
    el("figcaption", null, shown(placed(place)), source?.changed ? " (the file has changed since the run)" : null),
    lines.length ? el("pre", null, lines.map(([number, text]) => el("span", { class: number === place.line ? "line here" : "line" }, el("span", { class: "line-number" }, String(number)), shown(text.slice(indented))))) : null);
}

function criterionRow({ name, weight, score: value, scoredBy, judged: said }, _, criteria) {
  const unlinked = criteria.some(each => each.scoredBy === "linked") ? "the other checks" : "all checks";
  const who = { judge: "the judge", linked: "its checks", unlinked }[scoredBy];
  return el("li", null, el("span", { class: "criterion" }, shown(name), el("small", null, ` × ${weight}`)), scoreBar(value), el("span", { class: "number" }, score(value)), el("small", { class: "by" }, who ? `by ${who}` : "unscored"), judged(said));
}

function sentOf(entry) {
  const turns = (entry.messages ?? []).map(turn => part(`Sent by ${turn.role}`, block(turn.content)));
  return turns.length ? turns : [entry.message === undefined ? null : part("Message", block(entry.message))];
}

// The case in the baseline, then that of other agents and with other prompts, each with its name.
const othersOf = entry => [...(entry.baseline ? [["baseline", entry.baseline]] : []), ...kinOf(entry).map(other => [versionOf(other), other])];

// The response, what its checks found in it marked; beside it, if there are others, theirs and the calls.
function responses(entry) {
  const [turn] = turnsOf(entry);
  const others = othersOf(entry);
  if (!others.length) return entry.response === undefined ? null : answer(entry.response, marked(textOf(entry.response), evidenceOf(entry)));
  return beside(entry, turn, others.map(([name, other]) => [name, turnsOf(other)[0], headOf(other, whyNot(other))]), evidenceOf(entry), headOf(entry));
}

// A turn and that of others in columns, the first of the others leading; the words that only one has are marked.
function beside(entry, turn, others, found, head) {
  const sides = others.map(([, other]) => compared(other, turn));
  const called = others.some(([, other]) => callTexts(other) !== callTexts(turn));
  const column = (name, of, { calls, response }, about) =>
    el("div", { class: "version" }, el("h4", null, shown(name)), about,
      called && of?.toolCalls.length ? el("div", { class: "called" }, block(callTexts(of), calls)) : null,
      of?.response === undefined ? el("p", { class: "soft" }, of ? "There was no answer." : "The conversation had ended.") : answer(of.response, response));
  const columns = others.map(([name, other, about], index) => column(name, other, sides[index]("gone", []), about));
  columns.splice(1, 0, column(nameHere(entry), turn, sides[0]("new", found), head));
  return el("div", { class: "beside" }, columns);
}

const nameHere = entry => [kinOf(entry).length ? versionOf(entry) : null, "this case"].filter(Boolean).join(" · ");

const headOf = (entry, why) => [
  el("p", { class: "facts" }, statusLabel(entry.status), fact("score", entry.score === undefined ? "" : score(entry.score)), fact("time", duration(entry.durationMs))),
  why ? el("p", { class: "soft" }, shown(why)) : null,
];

const whyNot = other => (other.good ? "" : textOf(other.error) || reasonOf(other));

// Each side's calls and response as nodes; the words that only it has are marked, unless nearly all have changed.
function compared(other, turn) {
  const sides = (before, after) => {
    const parts = differences(before, after);
    const same = parts.reduce((sum, [part, text]) => sum + (part === "same" ? text.length : 0), 0);
    const differ = same * 3 < Math.min(before.length, after.length);
    return (kind, found) => (differ ? marked(kind === "gone" ? before : after, found) : side(parts, kind, text => marked(text, found)));
  };
  const [calls, response] = [sides(callTexts(other), callTexts(turn)), sides(textOf(other?.response), textOf(turn?.response))];
  return (kind, found) => ({ calls: calls(kind, found), response: response(kind, found) });
}

const callTexts = turn => (turn?.toolCalls ?? []).map(callText).join("\n");

// What the failing checks found in a response: of a conversation that of the turn, the last if they name none.
function evidenceOf(entry, turn = entry.turns?.length) {
  return failedOf(entry).filter(each => each.finding && (each.turn ?? entry.turns?.length) === turn).map(({ finding }) => finding);
}

// The text as nodes, what must not be in it or differs from what is expected marked.
function marked(text, found) {
  const ranges = found.map(finding => rangeOf(text, finding)).filter(Boolean).sort(([a], [b]) => a - b);
  const nodes = [];
  let end = 0;
  for (const [start, until] of ranges) {
    if (start < end) continue;
    nodes.push(...shown(text.slice(end, start)), el("mark", null, shown(text.slice(start, until))));
    end = until;
  }
  return [...nodes, ...shown(text.slice(end))];
}

function rangeOf(text, { kind, text: sought, path }) {
  if (kind === "forbidden") {
    const start = sought ? text.indexOf(sought) : -1;
    return start < 0 ? null : [start, start + sought.length];
  }
  if (kind !== "differs" || path) return null;
  let start = 0;
  while (start < text.length && text[start] === sought[start]) start += 1;
  return start < text.length ? [start, start + text.slice(start).match(/^\s*\S*/)[0].length] : null;
}

// A text in its own lines; a long one is folded, a cut one says so.
function block(value, nodes = shown(textOf(value))) {
  const text = textOf(value);
  const node = el("div", { class: "block" }, el("pre", { dir: "auto" }, text ? nodes : el("i", null, "empty")));
  if (text.length > 2000 || text.split("\n", COLLAPSED_LINES + 1).length > COLLAPSED_LINES) {
    const more = el("button", { type: "button", class: "more", "aria-expanded": "false" }, "Show all");
    node.classList.add("folded");
    more.addEventListener("click", () => {
      const folded = node.classList.toggle("folded");
      more.setAttribute("aria-expanded", String(!folded));
      more.textContent = folded ? "Show all" : "Show less";
    });
    node.append(more);
  }
  if (isCut(value)) node.append(el("p", { class: "soft" }, `shortened: the first ${text.length.toLocaleString("en")} of ${value.length.toLocaleString("en")} characters`));
  return node;
}

// An answer, rendered if it is Markdown, with a switch to its source, which comes first if anything is marked in it.
function answer(value, nodes) {
  const node = block(value, nodes);
  node.classList.add("answer");
  const text = textOf(value);
  if (!isMarkdown(text)) return node;
  const [source, rendered] = [node.firstChild, markdown(text)];
  const button = el("button", { type: "button", class: "switch" }, "Source");
  const show = raw => {
    button.setAttribute("aria-pressed", String(raw));
    (raw ? rendered : source).replaceWith(raw ? source : rendered);
  };
  button.addEventListener("click", () => show(button.getAttribute("aria-pressed") === "false"));
  node.prepend(button);
  show(Boolean(source.querySelector("mark, ins, del")));
  return node;
}

// A conversation, turn by turn: what was said, called and answered, and what failed in it. Where another version went
// another way, both stand side by side.
function conversation(entry) {
  const others = othersOf(entry).map(([name, other]) => ({ name, other, turns: turnsOf(other) }));
  const own = turnsOf(entry);
  const most = Math.max(own.length, ...others.map(({ turns }) => turns.length));
  const heads = others.map(({ name, other }) => [name, headOf(other, whyNot(other))]);
  heads.splice(1, 0, [nameHere(entry), headOf(entry)]);
  return [
    others.length ? part("Side by side", el("div", { class: "beside" }, heads.map(([name, about]) => el("div", { class: "version" }, el("h4", null, shown(name)), about)))) : null,
    ...Array.from({ length: most }, (_, index) => turnPart(entry, own[index], others.map(({ name, turns }) => [name, turns[index]]), index + 1)),
  ];
}

function turnPart(entry, turn, others, number) {
  const failed = failedOf(entry).filter(each => each.turn === number);
  const found = evidenceOf(entry, number);
  const spoken = other => textOf(turn?.message) === textOf(other?.message);
  const alike = ([, other]) => turn && other && spoken(other) && callTexts(turn) === callTexts(other) && textOf(turn.response) === textOf(other.response);
  const differing = others.filter(each => !alike(each));
  const same = others.filter(alike).map(([name]) => name);
  const user = each => (each ? el("div", { class: "user" }, el("p", { class: "who" }, "user"), block(each.message)) : null);
  const together = turn && differing.every(([, other]) => !other || spoken(other));
  return part(`Turn ${number}`, [
    el("p", { class: "facts" }, failed.length ? statusMark("failed") : null, fact("time", duration(turn?.durationMs)), same.length ? el("small", null, "the same in ", shown(same.join(", "))) : null),
    together ? user(turn) : null,
    turn ? callsOf({}, turn.toolCalls) : null,
    differing.length
      ? beside(entry, turn, differing.map(([name, other]) => [name, other, together ? null : user(other)]), found, together ? null : user(turn))
      : [el("p", { class: "who" }, "agent"), turn.response === undefined ? el("p", null, "no answer") : answer(turn.response, marked(textOf(turn.response), found))],
    failed.map(each => el("p", { class: "broken" }, statusMark("failed"), el("span", { class: "at" }, shown(checkOf(each))))),
  ]);
}

function callsOf(entry, calls) {
  if (!calls?.length && !entry.moreCalls) return null;
  return [
    el("ol", { class: "calls" }, (calls ?? []).map(call => el("li", null, el("details", null,
      el("summary", null,
        call.success === undefined ? null : statusMark(call.success ? "passed" : "failed"),
        el("span", null, el("code", null, shown(callText(call))), call.result === undefined ? null : el("small", null, " → ", shown(inLine(call.result).slice(0, 200))), call.error === undefined ? null : el("span", null, " failed: ", shown(textOf(call.error))), el("small", null, ` ${duration(call.durationMs)}`))),
      call.params === undefined ? null : block(call.params),
      call.result === undefined ? null : [el("p", { class: "soft" }, "gave back"), block(call.result)])))),
    entry.moreCalls ? el("p", { class: "soft" }, `and ${counted(entry.moreCalls, "more call", "more calls")}`) : null,
  ];
}

function filesOf({ written }) {
  if (!written?.length) return null;
  return el("ol", { class: "calls" }, written.map(({ path, size, text }) => {
    const head = [el("code", null, shown(path)), el("small", null, ` ${counted(size, "byte", "bytes")}`)];
    return el("li", null, text === undefined ? head : el("details", null, el("summary", null, el("span", null, head)), block(text)));
  }));
}

// `book(flight: "LH1824", people: 1)`
function callText(call) {
  const sent = call.params === undefined ? "" : inLine(call.params);
  return `${textOf(call.name)}(${sent.replace(/^\{([^]*)\}$/, "$1")})`;
}

// JSON, which may be cut, on a line, without quotes around simple keys.
function inLine(value) {
  const json = textOf(value);
  const short = json.slice(0, LONGEST_CALL).replace(/"((?:[^"\\]|\\[^])*)"(\s*:)?|\s+/g, (found, key, colon, at) => {
    if (colon && /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key)) return `${key}:`;
    if (found[0] === '"') return found;
    return "{[".includes(json[at - 1]) || "}]".includes(json[at + found.length]) ? "" : " ";
  });
  return json.length > LONGEST_CALL || isCut(value) ? `${short}…` : short;
}

function attemptsOf(entry) {
  if (!entry.attempts) return null;
  return el("ol", { class: "attempts" }, entry.attempts.map(attempt => el("li", null, el("details", null,
    el("summary", null, statusLabel(attempt.status), fact("score", attempt.score === undefined ? "" : score(attempt.score)), fact("time", duration(attempt.durationMs))),
    attempt.error === undefined ? null : el("p", null, shown(textOf(attempt.error))),
    attempt.response === undefined ? null : block(attempt.response)))));
}
