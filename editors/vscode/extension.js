// Starts `evalc lsp` and connects it to the editor; everything else is the server's.

const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const COMPILED = "**/*.{golden,labeled,regression,rubric}.json";

let client;

function command() {
  const [configured, ...rest] = workspace.getConfiguration("evalc").get("command");
  if (configured) return { command: configured, args: rest };
  const program = process.platform === "win32" ? join("Scripts", "evalc.exe") : join("bin", "evalc");
  const installed = (workspace.workspaceFolders ?? []).map(folder => join(folder.uri.fsPath, ".venv", program));
  return { command: installed.find(existsSync) ?? "evalc", args: ["lsp"] };
}

async function start() {
  client = new LanguageClient("evalc", "evalc", command(), {
    documentSelector: [{ language: "evalc" }, { scheme: "file", pattern: COMPILED }],
  });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`The evalc language server did not start: ${error.message}. Install it with pip install "evalc[lsp]".`);
  }
}

async function stop() {
  if (client?.isRunning()) await client.stop();
}

exports.activate = context => {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(commands.registerCommand("evalc.restart", restart));
  return start();
};

exports.deactivate = stop;
