/**
 * Parsers (tree-sitter) for programming languages. A grammar is a WebAssembly file inside a
 * package; loading and parsing belong in a thread of their own.
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

/**
 * File extensions by grammar. PowerShell is left out: after some parsing, the engine spends half a
 * minute of a processor on recompiling it.
 */
const EXTENSIONS: Readonly<Record<string, string>> = {
  python: 'py pyi',
  javascript: 'js jsx mjs cjs',
  typescript: 'ts mts cts',
  tsx: 'tsx',
  go: 'go',
  rust: 'rs',
  java: 'java',
  'c-sharp': 'cs',
  cpp: 'c cc cpp cxx h hh hpp',
  ruby: 'rb',
  php: 'php',
  bash: 'sh bash',
  css: 'css',
};

/** Returns the grammar for each file extension, from the common ones and `more`. */
export function grammarsByExtension(
  more: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const all = [...Object.entries(EXTENSIONS), ...Object.entries(more)];
  return new Map(
    all.flatMap(([grammar, extensions]) =>
      extensions.split(' ').map((extension) => [extension, grammar] as const),
    ),
  );
}

/** Loads grammars, each once. */
export type GrammarLoader = ReturnType<typeof createGrammarLoader>;

/**
 * Creates an empty loader. Use one per thread: two that load at the same time interfere with each
 * other.
 */
export function createGrammarLoader(fileOf: (name: string) => string = packagedFile) {
  let library: ReturnType<typeof loadLibrary> | undefined;
  const grammars = new Map<string, Promise<Grammar>>();
  const failed = new Set<string>();
  const loaded = () =>
    (library ??= loadLibrary().catch((error: unknown) => {
      library = undefined;
      throw error;
    }));
  const load = async (name: string): Promise<Grammar> => {
    const { Language, Parser } = await loaded();
    const language = await Language.load(await readFile(fileOf(name)));
    return { language, parser: new Parser().setLanguage(language) };
  };
  return {
    /**
     * Loads what every grammar needs: some 20 ms of processor time that the first text need not
     * wait for. Never rejects.
     */
    prepare: (): Promise<void> =>
      loaded().then(
        () => undefined,
        // `load` reports the reason.
        () => undefined,
      ),
    /**
     * Returns the grammar with this name, such as `typescript`. Rejects if it cannot be loaded, or
     * failed before.
     */
    load(name: string): Promise<Grammar> {
      const known = grammars.get(name);
      if (known !== undefined) return known;
      const grammar = load(name);
      grammars.set(name, grammar);
      grammar.catch(() => failed.add(name));
      return grammar;
    },
    /** Lets failed grammars be tried again: once per piece of work, not per text in it. */
    forgetFailures(): void {
      for (const name of failed) grammars.delete(name);
      failed.clear();
    },
  };
}

async function loadLibrary() {
  // Imported here: threads that never parse should not load it.
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init();
  return { Language, Parser };
}

/** Returns the path of a grammar inside its package. */
export function packagedFile(name: string): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('@vscode/tree-sitter-wasm/package.json'));
  return join(folder, 'wasm', `tree-sitter-${name}.wasm`);
}
