/**
 * What a tool's name and input say about its output. A hint is a prior only: the text's
 * own shape must agree with it, or a `cat` of a log would be taken for code.
 */
import type { TextClass } from './classes.ts';

/** Where a text came from, as far as it is known. */
export interface ClassifyHints {
  readonly toolName?: string;
  /** The shell command that printed the text. */
  readonly command?: string;
  /** The file that the text was read from. */
  readonly path?: string;
}

/** What the hints expect: a class, and for code its file extension. */
export interface Expectation {
  readonly kind?: TextClass;
  readonly extension?: string;
}

const BY_EXTENSION: readonly (readonly [TextClass, string])[] = [
  [
    'code',
    'py pyi js jsx mjs cjs ts tsx mts cts go rs java kt swift c h cc cpp cxx hpp hh cs rb php sh bash zsh ps1 css scss less sql lua pl r scala dart ex exs clj hs ml vue svelte gyp gypi',
  ],
  ['config', 'yaml yml toml ini cfg conf env properties editorconfig npmrc gitignore'],
  ['json', 'json jsonl ndjson map webmanifest'],
  ['narrative', 'md markdown mdx rst txt adoc'],
  ['log', 'log out'],
  ['diff', 'diff patch'],
  ['html', 'html htm xhtml svg xml'],
];

const CLASS_OF_EXTENSION: ReadonlyMap<string, TextClass> = new Map(
  BY_EXTENSION.flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
);

const BY_COMMAND: readonly (readonly [TextClass, RegExp])[] = [
  ['diff', /\bgit (?:diff|show|format-patch|log -p|stash show)\b|(?:^|[|;&] *)diff\b/],
  ['grep', /(?:^|[|;&(] *)(?:grep|egrep|fgrep|rg|ag|ack|git grep)\b/],
  [
    'log',
    /\b(?:pytest|unittest|tox|jest|vitest|mocha|runtests?|cargo|npm|pnpm|yarn|bun|make|cmake|ninja|gradle|mvn|pip3?|poetry|uv|go (?:test|build|vet)|tsc|eslint|ruff|mypy|docker|kubectl logs|journalctl|dmesg|tail -f)\b/,
  ],
  ['listing', /(?:^|[|;&(] *)(?:ls|find|tree|fd|git ls-files|du)\b/],
];

const BY_TOOL: readonly (readonly [TextClass, RegExp])[] = [
  ['grep', /^(?:grep|search|search_files|search_dir|ripgrep|codebase_search)$/i],
  ['listing', /^(?:glob|ls|list_dir|list_files|find_file|list_directory)$/i],
];

const VIEWERS = /(?:^|[|;&(] *)(?:cat|head|tail|sed -n|nl|bat|less|more|awk)\b/;
const FILE_ARGUMENT = /[\w./@-]+\.([A-Za-z][\w]{0,11})(?=['"\s;|&)]|$)/g;

/** What the tool and its input make likely, before the text is looked at. */
export function expectFrom(hints: ClassifyHints): Expectation {
  const command = hints.command?.slice(0, 2000);
  if (hints.path !== undefined) return fromExtension(extensionOf(hints.path));
  if (command !== undefined) {
    const found = BY_COMMAND.find(([, pattern]) => pattern.test(command));
    if (found !== undefined) return { kind: found[0] };
    if (VIEWERS.test(command)) {
      const names = [...command.matchAll(FILE_ARGUMENT)].map((match) => match[1]!.toLowerCase());
      const known = names.find((name) => CLASS_OF_EXTENSION.has(name));
      if (known !== undefined) return fromExtension(known);
    }
    return {};
  }
  const tool = BY_TOOL.find(([, pattern]) => pattern.test(hints.toolName ?? ''));
  return tool === undefined ? {} : { kind: tool[0] };
}

function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? name.toLowerCase() : name.slice(dot + 1).toLowerCase();
}

function fromExtension(extension: string): Expectation {
  const kind = CLASS_OF_EXTENSION.get(extension);
  return kind === undefined ? {} : { kind, extension };
}
