// From a case to texts for elsewhere: Markdown for an issue, and the command that runs it again.

const fenced = text => {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return `${fence}\n${text}\n${fence}`;
};

// A text on one line as code.
const coded = text => {
  const ticks = "`".repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([found]) => found.length)) + 1);
  const space = /^`|`$/.test(text) ? " " : "";
  return `${ticks}${space}${plain(text).replace(/\s+/g, " ")}${space}${ticks}`;
};

function markdownOf(entry) {
  const failed = failedOf(entry).map(each => `- ✗ ${coded(checkOf(each))}${each.message ? `\n\n${fenced(plain(each.message)).replace(/^/gm, "  ")}` : ""}`);
  const said = turnsOf(entry).flatMap(({ message, response, toolCalls }, index) => {
    const made = toolCalls.map(callText).join("\n");
    const title = name => `**${entry.turns ? `Turn ${index + 1}, ` : ""}${name}**`;
    return [
      textOf(message) && `${title("message")}\n\n${fenced(plain(textOf(message)))}`,
      made && `${title("tool calls")}\n\n${fenced(plain(made))}`,
      `${title("response")}\n\n${response === undefined ? "There was no answer." : fenced(plain(textOf(response)))}`,
    ];
  });
  const command = commandOf(entry);
  const reason = failed.length || !reasonOf(entry) ? "" : fenced(plain(reasonOf(entry)));
  const about = [nameOf(suites[entry.suite]), entry.place && placed(entry.place)].filter(Boolean).map(coded).join(", ");
  return [`### ${STATUSES[entry.status].mark} ${coded(entry.id)}: ${STATUSES[entry.status].word}`, about, reason, failed.join("\n"), ...said, command && `**Run it again**\n\n${fenced(plain(command))}`].filter(Boolean).join("\n\n");
}

const quotedForShell = text => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

// Null where a command would not run the same: a suite in Python, an agent whose name in results is not whole, and names
// with characters that a terminal obeys.
function commandOf({ id, place, suite }) {
  const agent = suites[suite].agentEndpoint;
  if (/\.py$/.test(place?.file ?? "") || /\*\*\*| at https?:/.test(agent)) return null;
  const command = ["evalc", "run", place ? `${place.file}::${id}` : id, "--agent", agent].map(quotedForShell).join(" ");
  return plain(command) === command ? command : null;
}

function copyButtons(entry) {
  const said = el("span", { role: "status", class: "soft" });
  const button = (label, text) => {
    const node = el("button", { type: "button" }, label);
    node.addEventListener("click", async () => {
      said.textContent = (await copied(text())) ? "Copied." : "The browser does not allow it.";
    });
    return node;
  };
  const command = commandOf(entry);
  return el("p", { class: "copies" }, button("Copy as Markdown", () => markdownOf(entry)), command ? button("Copy the command", () => command) : null, said);
}

// The clipboard is there in a secure context only; a page on a plain server has the older way.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return done;
  }
}
