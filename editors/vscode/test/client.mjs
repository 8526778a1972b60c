// Activates the built extension with a stand-in for the editor's API: its client starts the language server over standard
// input and output, opens an eval file, and prints what the server publishes about it.

import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { createVSCodeMock } from "jest-mock-vscode";

const [bundle, folder, file, ...command] = process.argv.slice(2);

const framework = { fn: implementation => implementation ?? (() => undefined), spyOn: () => undefined };
const mocked = createVSCodeMock(framework);

// What the stand-in lacks is an empty class, or a function whose result can be disposed of: an event never fires.
const idle = name => (/^[A-Z]/.test(name) ? class {} : () => ({ dispose() {} }));

function filled(target, own = {}) {
  return new Proxy(target ?? {}, {
    get: (_, name) => own[name] ?? (/^(onDid|onWill|register)/.test(String(name)) ? idle(name) : target?.[name]) ?? (typeof name === "string" ? idle(name) : undefined),
  });
}

const text = readFileSync(file, "utf8");
const uri = mocked.Uri.file(file);
const document = {
  uri, fileName: file, languageId: "evalc", version: 1, isUntitled: false, isDirty: false, isClosed: false, eol: 1,
  lineCount: text.split("\n").length, getText: () => text,
};
const folderUri = mocked.Uri.file(folder);
let failed = false;
let publish;
const published = new Promise(resolve => (publish = resolve));

class Collection {
  set(at, diagnostics) {
    if (!diagnostics) return;
    const told = diagnostics.map(each => ({ code: each.code?.value ?? each.code, message: each.message, line: each.range.start.line + 1 }));
    publish({ uri: at.toString(), diagnostics: told });
  }
  delete() {}
  clear() {}
  dispose() {}
}

const api = filled(mocked, {
  workspace: filled(mocked.workspace, {
    textDocuments: [document],
    createFileSystemWatcher: () => filled({}),
    notebookDocuments: [],
    workspaceFolders: [{ uri: folderUri, name: "project", index: 0 }],
    getConfiguration: section => ({ get: (key, otherwise) => (section === "evalc" && key === "command" ? command : otherwise), has: () => false }),
    getWorkspaceFolder: () => ({ uri: folderUri, name: "project", index: 0 }),
  }),
  languages: filled(mocked.languages, {
    createDiagnosticCollection: () => new Collection(),
    match: (selector, one) => (selector.some(each => each.language === one.languageId) ? 10 : 0),
  }),
  window: filled(mocked.window, {
    visibleTextEditors: [],
    tabGroups: filled({}, { all: [] }),
    createOutputChannel: () => filled({}, { appendLine: line => process.stderr.write(`${line}\n`), append: line => process.stderr.write(line) }),
    showErrorMessage: message => {
      process.stderr.write(`${message}\n`);
      failed = true;
    },
  }),
  commands: filled(mocked.commands),
  env: filled(mocked.env, { appName: "a stand-in", language: "en", isTelemetryEnabled: false }),
  version: "1.100.0",
  CancellationTokenSource: class {
    token = { isCancellationRequested: false, onCancellationRequested: idle("event") };
    cancel() {}
    dispose() {}
  },
});

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? api : load(name, ...rest));
const extension = createRequire(import.meta.url)(bundle);
setTimeout(() => process.exit(2), 60_000).unref();
await extension.activate({ subscriptions: [], extensionPath: folder });
if (failed) process.exit(1);
process.stdout.write(JSON.stringify(await published) + "\n");
await extension.deactivate();
process.exit(0);
