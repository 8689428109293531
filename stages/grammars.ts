/**
 * Parsers (tree-sitter) for programming languages. A grammar is a WebAssembly file inside a
 * package; to load one and to parse are work for a thread of their own.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
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

function fileOf(name: string): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('@vscode/tree-sitter-wasm/package.json'));
  return join(folder, 'wasm', `tree-sitter-${name}.wasm`);
}
