// From a case to all that is known of it.

const COLLAPSED_LINES = 24;

function detailsOf(entry) {
  const suite = suites[entry.suite];
  return [
    el("div", { class: "facts" }, statusLabel(entry.status), ...badges(entry), fact("score", entry.score === undefined ? "" : score(entry.score)), fact("time", duration(entry.durationMs)), ...usageOf(entry), fact("suite", nameOf(suite)), fact("variant", entry.variant), fact("finish reason", entry.finishReason)),
    textOf(entry.description) ? el("p", { class: "description" }, shown(textOf(entry.description))) : null,
    entry.place ? el("p", { class: "place" }, shown(placed(entry.place))) : null,
    reason(entry),
    part("Checks", assertionsOf(entry)),
    part("Scores", entry.criteria.length ? el("ul", { class: "criteria" }, entry.criteria.map(criterionRow)) : null),
    ...(entry.turns ? turnsOf(entry) : sentOf(entry)),
    entry.turns && !entry.baseline && !kinOf(entry).length ? null : part(entry.baseline || kinOf(entry).length ? "Side by side" : "Response", responses(entry)),
    entry.turns ? null : part("Tool calls", callsOf(entry, entry.toolCalls)),
    part("Attempts", attemptsOf(entry)),
    entry.skippedTokens?.length ? part("Values that were not there", el("p", null, shown(entry.skippedTokens.join(", ")))) : null,
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

function reason(entry) {
  const text = reasonOf(entry);
  return text ? el("p", { class: `reason ${entry.status}` }, shown(text)) : null;
}

function assertionsOf(entry) {
  if (!entry.assertions?.length) return null;
  const ordered = [...entry.assertions].sort((a, b) => (a.outcome === "passed") - (b.outcome === "passed"));
  return el("ul", { class: "assertions" }, ordered.map(assertion => el("li", null,
    statusMark(assertion.outcome),
    el("div", null,
      el("span", { class: "at" }, shown(checkOf(assertion))),
      assertion.message ? el("p", null, shown(assertion.message)) : null,
      judged(assertion.judged),
      excerpt(assertion.place)))));
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
  return el("figure", { class: "excerpt" },
    el("figcaption", null, shown(placed(place)), source?.changed ? " (the file has changed since the run)" : null),
    lines.length ? el("pre", { tabindex: "0", "aria-label": `Lines of ${plain(place.file)}` }, lines.map(([number, text]) => el("span", { class: number === place.line ? "line here" : "line" }, el("span", { class: "line-number" }, String(number)), shown(text)))) : null);
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

// The response; beside it that of the baseline, of other agents and of other variants.
function responses(entry) {
  const others = [...(entry.baseline ? [["baseline", entry.baseline]] : []), ...kinOf(entry).map(other => [other.variant ?? suites[other.suite].agentEndpoint, other])];
  if (!others.length) return entry.response === undefined ? null : block(entry.response);
  const [, first] = others[0];
  const parts = differences(textOf(first.response), textOf(entry.response));
  return el("div", { class: "beside" },
    version(others[0][0], first, side(parts, "gone")),
    version("this case", entry, side(parts, "new")),
    others.slice(1).map(([name, other]) => version(name, other, side(differences(textOf(other.response), textOf(entry.response)), "gone"))));
}

function version(name, entry, nodes) {
  return el("div", { class: "version" },
    el("h4", null, shown(name)),
    el("p", { class: "facts" }, statusLabel(entry.status), fact("score", entry.score === undefined ? "" : score(entry.score)), fact("time", duration(entry.durationMs))),
    entry.response === undefined ? el("p", { class: "soft" }, "There was no answer.") : block(entry.response, nodes),
    entry.good ? null : el("p", { class: "soft" }, shown(textOf(entry.error) || reasonOf(entry))));
}

// A text in its own lines; a long one is folded, a cut one says so.
function block(value, nodes = shown(textOf(value))) {
  const text = textOf(value);
  const node = el("div", { class: "block" }, el("pre", { tabindex: "0", dir: "auto" }, text ? nodes : el("i", null, "empty")));
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

// A conversation, turn by turn: what was said, what was called and answered, and what failed in it.
function turnsOf(entry) {
  let from = 0;
  const parts = entry.turns.map((turn, index) => {
    const calls = entry.toolCalls?.slice(from, from + (turn.calls ?? 0));
    from += turn.calls ?? 0;
    const failed = (entry.assertions ?? []).filter(each => each.turn === index + 1 && each.outcome !== "passed" && each.outcome !== "skipped");
    return part(`Turn ${index + 1}`, [
      el("p", { class: "facts" }, failed.length ? statusMark("failed") : null, fact("time", duration(turn.durationMs))),
      el("p", { class: "soft" }, "user"),
      block(turn.message),
      callsOf({}, calls),
      el("p", { class: "soft" }, "agent"),
      block(turn.response),
      failed.map(each => el("p", { class: "reason failed" }, el("b", null, shown(checkOf(each))), el("br"), shown(each.message ?? ""))),
    ]);
  });
  return [...parts, part("Tool calls", callsOf(entry, []))];
}

function callsOf(entry, calls) {
  if (!calls?.length && !entry.moreCalls) return null;
  return [
    el("ol", { class: "calls" }, (calls ?? []).map(call => el("li", null,
      el("p", null, call.success === undefined ? null : statusMark(call.success ? "passed" : "failed"), el("b", null, shown(textOf(call.name))), fact("time", duration(call.durationMs))),
      call.params === undefined ? null : block(call.params),
      call.result === undefined ? null : [el("p", { class: "soft" }, "gave back"), block(call.result)],
      call.error === undefined ? null : el("p", null, "failed: ", shown(textOf(call.error)))))),
    entry.moreCalls ? el("p", { class: "soft" }, `and ${counted(entry.moreCalls, "more call", "more calls")}`) : null,
  ];
}

function attemptsOf(entry) {
  if (!entry.attempts) return null;
  return el("ol", { class: "attempts" }, entry.attempts.map(attempt => el("li", null, el("details", null,
    el("summary", null, statusLabel(attempt.status), fact("score", attempt.score === undefined ? "" : score(attempt.score)), fact("time", duration(attempt.durationMs))),
    attempt.error === undefined ? null : el("p", null, shown(textOf(attempt.error))),
    attempt.response === undefined ? null : block(attempt.response)))));
}
