// From the blocks of data in the page to suites, cases and source lines.

const blocks = name => [...document.querySelectorAll(`script[data-holds="${name}"]`)].map(block => JSON.parse(block.textContent));

const [run] = blocks("run");
const [sources] = blocks("sources");
const [groups] = blocks("groups");
const suites = run.suites;
const cases = blocks("cases").flat();
// The cases that passed and are too many to be listed: what is known of them.
const countedOnly = blocks("counted").flat().flatMap(({ suite, durations }) => durations.map(durationMs => ({ suite, durationMs, status: "passed", good: true })));

const GOOD = new Set(["passed", "unverified", "expected-failure"]);
const SEVERITY = Object.keys(STATUSES);

const agents = [...new Set(suites.map(suite => suite.agentEndpoint))];
// What the names of all agents begin with, up to a separator, is left out where they stand beside each other.
const sharedStart = (() => {
  const [first = "", ...others] = agents;
  const differs = [...first].findIndex((_, at) => others.some(other => !other.startsWith(first.slice(0, at + 1))));
  const start = Math.max(first.slice(0, differs).lastIndexOf(":"), first.slice(0, differs).lastIndexOf("/")) + 1;
  return others.length && differs > 0 && agents.every(agent => agent.length > start) ? start : 0;
})();
const shortName = agent => agent.slice(sharedStart);
const nameOf = suite => `${suite.suite} (${suite.tier})${agents.length > 1 ? ` · ${suite.agentEndpoint}` : ""}`;

// A case's place in the address: its suite and id, its agent if there are several, a number where two would be the same.
const addressed = ({ suite, tier }, id) => encodeURIComponent(plain(`${suite}.${tier}/${id}`));
const byAddress = new Map();
for (const [index, entry] of cases.entries()) {
  const suite = suites[entry.suite];
  const path = addressed(suite, entry.id);
  const address = agents.length > 1 ? `${path}?agent=${encodeURIComponent(plain(suite.agentEndpoint))}` : path;
  entry.index = index;
  entry.tags ??= [];
  entry.criteria ??= [];
  entry.good = GOOD.has(entry.status);
  entry.address = address;
  for (let again = 2; byAddress.has(entry.address); again += 1) entry.address = address.replace(/(?=[?]|$)/, `~${again}`);
  entry.change = changeOf(entry);
  byAddress.set(entry.address, entry);
  if (!byAddress.has(path)) byAddress.set(path, entry);
}

// What became of the case since the baseline.
function changeOf(entry) {
  if (!entry.baseline) return null;
  const was = GOOD.has(entry.baseline.status);
  // What verified nothing says nothing of the agent: where something was verified before, that is lost.
  if (entry.status === "unverified" && entry.baseline.status !== "unverified") return was ? "regression" : null;
  return was === entry.good ? null : was ? "regression" : "new pass";
}

// The same case of other agents, and with other variants of its prompt.
const kin = new Map();
const kinship = entry => {
  const id = entry.variant && entry.id.endsWith(`@${entry.variant}`) ? entry.id.slice(0, -entry.variant.length - 1) : entry.id;
  return JSON.stringify([suites[entry.suite].suite, suites[entry.suite].tier, id]);
};
// What a case is compared as: of an agent, with a variant of its prompt.
const versionOf = entry => [agents.length > 1 || !entry.variant ? shortName(suites[entry.suite].agentEndpoint) : null, entry.variant].filter(Boolean).join(" · ");
for (const entry of cases) {
  const key = kinship(entry);
  if (!kin.has(key)) kin.set(key, []);
  kin.get(key).push(entry);
}
const kinOf = entry => kin.get(kinship(entry)).filter(other => other !== entry && other.status !== "skipped");

// Why the case did not simply pass: the check and what it says.
const reasonOf = ({ reason }) => (reason ? `${reason.check ? `${reason.check}: ` : ""}${textOf(reason.message)}` : "");

// The message as sent; of a conversation the first.
const sentTo = ({ turns, messages, message }) => textOf(turns?.[0]?.message ?? messages?.at(-1)?.content ?? message);

// What was said and called, turn by turn; a case that is no conversation is one turn.
function turnsOf({ turns = null, message, messages, response, toolCalls = [], durationMs }) {
  if (!turns) return [{ message: sentTo({ message, messages }), response, toolCalls, durationMs }];
  let from = 0;
  return turns.map(turn => ({ ...turn, toolCalls: toolCalls.slice(from, (from += turn.calls ?? 0)) }));
}

// All that a search looks at, in small letters, made when it is first searched.
function searched(entry) {
  entry.text ??= plain(
    [
      entry.id,
      textOf(entry.description),
      reasonOf(entry),
      textOf(entry.message),
      ...(entry.messages ?? []).map(turn => turn.content),
      textOf(entry.response),
      ...(entry.turns ?? []).map(turn => textOf(turn.message)),
      ...(entry.assertions ?? []).map(assertion => `${assertion.line ?? ""} ${assertion.message ?? ""}`),
      ...(entry.toolCalls ?? []).map(call => `${textOf(call.name)} ${textOf(call.params)} ${textOf(call.result)} ${textOf(call.error)}`),
      ...entry.tags,
    ].join("\n"),
  ).toLowerCase();
  return entry.text;
}
