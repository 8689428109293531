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

/**
 * File extensions by grammar. PowerShell's is left out: after some parsing, the engine spends half
 * a minute of a processor on compiling it anew.
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

/** The grammar for each file extension, of those that everybody reads and of `more`. */
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

/** A loader that has loaded nothing yet. A thread should have one: two that begin at once disturb each other. */
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
    /** Loads what every grammar needs: some 20 ms of a processor that the first text need not wait for. Never rejects. */
    prepare: (): Promise<void> =>
      loaded().then(
        () => undefined,
        // Whoever loads a grammar will learn why.
        () => undefined,
      ),
    /** The grammar with this name, such as `typescript`. Rejects where it cannot be loaded, or could not be before. */
    load(name: string): Promise<Grammar> {
      const known = grammars.get(name);
      if (known !== undefined) return known;
      const grammar = load(name);
      grammars.set(name, grammar);
      grammar.catch(() => failed.add(name));
      return grammar;
    },
    /** Lets what could not be loaded be tried again: once for each piece of work, not for each text in it. */
    forgetFailures(): void {
      for (const name of failed) grammars.delete(name);
      failed.clear();
    },
  };
}

async function loadLibrary() {
  // Imported here: the threads that never parse should not load it.
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init();
  return { Language, Parser };
}

/** Where the package keeps a grammar. */
export function packagedFile(name: string): string {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('@vscode/tree-sitter-wasm/package.json'));
  return join(folder, 'wasm', `tree-sitter-${name}.wasm`);
}
