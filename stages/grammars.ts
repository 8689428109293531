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

/** Gives the grammar with this name, such as `typescript`. Rejects where there is none. */
export type GrammarLoader = (name: string) => Promise<Grammar>;

/** A loader that loads every grammar once. A thread should have one: two that begin at once disturb each other. */
export function createGrammarLoader(): GrammarLoader {
  let library: ReturnType<typeof loadLibrary> | undefined;
  const grammars = new Map<string, Promise<Grammar>>();
  const load = async (name: string): Promise<Grammar> => {
    const { Language, Parser } = await (library ??= loadLibrary());
    const language = await Language.load(await readFile(fileOf(name)));
    return { language, parser: new Parser().setLanguage(language) };
  };
  return (name) => {
    const grammar = grammars.get(name) ?? load(name);
    grammars.set(name, grammar);
    return grammar;
  };
}

async function loadLibrary() {
  // Imported here: the threads that never parse should not load it.
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init();
  return { Language, Parser };
}

/**
 * For a process that parses little at a time, and must not be kept waiting: grammars are a
 * few huge functions, and to compile them a second time with every optimisation takes the
 * engine 150 ms a language, in which the next one cannot be loaded. Compiled once, they parse
 * a text of 10,000 tokens as fast to within a fifth, and megabytes of source at two thirds of the speed.
 */
export function compileGrammarsOnce(): void {
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}

function fileOf(name: string): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('@vscode/tree-sitter-wasm/package.json'));
  return join(folder, 'wasm', `tree-sitter-${name}.wasm`);
}
