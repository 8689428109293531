/**
 * Parsers (tree-sitter) for programming languages. A grammar is a WebAssembly file inside a
 * package; to load one and to parse are work for a thread of their own.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Language, Parser } from 'web-tree-sitter';

/** One language's parser. It parses synchronously. */
export interface Grammar {
  readonly language: Language;
  readonly parser: Parser;
}

/** Loads the grammar with this name, such as `typescript`. Rejects where there is none. */
export async function loadGrammar(name: string): Promise<Grammar> {
  // Imported here: the threads that never parse should not load it.
  const { Language, Parser } = await import('web-tree-sitter');
  compileOnce();
  await Parser.init();
  const language = await Language.load(await readFile(fileOf(name)));
  return { language, parser: new Parser().setLanguage(language) };
}

/**
 * Grammars are a few huge functions. To compile them a second time with every optimisation
 * takes the engine 150 ms a language, in which the next one cannot be loaded; what is
 * compiled once parses as fast to within a fifth. Measured by `bench/quality/first-sight.ts`.
 */
function compileOnce(): void {
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}

function fileOf(name: string): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('@vscode/tree-sitter-wasm/package.json'));
  return join(folder, 'wasm', `tree-sitter-${name}.wasm`);
}
