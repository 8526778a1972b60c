// Prints the scopes of each token of a text from standard input, as Visual Studio Code's own engine finds them.

const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { loadWASM, OnigScanner, OnigString } = require("vscode-oniguruma");
const { INITIAL, parseRawGrammar, Registry } = require("vscode-textmate");

const FILES = {
  "source.evalc": join(__dirname, "..", "syntaxes", "evalc.tmLanguage.json"),
  "source.yaml": join(__dirname, "..", "node_modules", "tm-grammars", "grammars", "yaml.json"),
};

async function main() {
  await loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: patterns => new OnigScanner(patterns),
      createOnigString: text => new OnigString(text),
    }),
    loadGrammar: async scope => (FILES[scope] ? parseRawGrammar(readFileSync(FILES[scope], "utf8"), FILES[scope]) : null),
  });
  const grammar = await registry.loadGrammar("source.evalc");
  let stack = INITIAL;
  const found = readFileSync(0, "utf8").split("\n").map(line => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    return tokens.map(token => [line.slice(token.startIndex, token.endIndex), token.scopes]);
  });
  process.stdout.write(JSON.stringify(found));
}

main();
