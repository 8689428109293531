/**
 * Which files a conversation wrote to, judging by its calls. When in doubt a file counts as
 * written: the files an agent is working on must stay in its context.
 */
import { isObject } from '../../../dialect/json-kind.ts';
import { programsOf } from '../../../model/classify/command.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { hintsOf } from '../../pass/block-label.ts';
import { isIn, treesWrittenBy } from './tree-writers.ts';

/** Names of read-only tools. */
const LOOKS = /(?:^|_)(?:read|view|cat|open|show|get|list|ls|glob|grep|search|find|fetch|web)/i;
/** Programs that only read, or run existing code; with a redirection or `-i` they write too. */
const READERS: ReadonlySet<string> = new Set(
  (
    'cat bat less more head tail nl wc sed awk grep egrep fgrep rg ag ack find fd ls tree file stat du ' +
    'cd pwd echo printf true test sort uniq cut tr diff cmp jq xxd od strings which type env ' +
    'pytest jest vitest mocha tsc eslint mypy tox nox make cargo go npm npx yarn pnpm node timeout time'
  ).split(' '),
);
const WRITES =
  /(?:^|[^<>=-])>{1,2}(?!&|\s*\/dev\/null)|\s-\w*i\b|--(?:fix|write|in-place)|<<|\btee\b/;
/** Possible file names in a command or in the headers of a patch, and how such names end. */
const NAME = /[\w.@+-]+/g;
const PATH = /[\w.@+/-]+/g;
const EXTENSION = /\.[A-Za-z]\w{0,9}(?![\w.])/g;
const PATCHED = /^(?:\*\*\* (?:Update|Add|Delete) File: |\*\*\* Move to: |[-+]{3} )(.+)$/gm;

/**
 * Returns the base names of all paths that a tool call may have written to; empty for other blocks.
 */
export function writtenBy(block: ConversationBlock): readonly string[] {
  if (block.kind !== 'tool_use' || onlyLooks(block)) return [];
  const { command } = hintsOf(block);
  // File names without an extension, such as `Makefile`, look like any other word.
  if (command !== undefined)
    return [...(command.match(NAME) ?? []), ...namesIn(command), ...patched(command)];
  return namesOf(block.toolInput);
}

/** Returns true for a call that writes no file, judging by the tool's name or its command. */
export function onlyLooks(call: ConversationBlock): boolean {
  const { command, toolName = '' } = hintsOf(call);
  if (command !== undefined)
    return !WRITES.test(command) && programsOf(command).every((one) => READERS.has(one));
  if (isEditorsView(call)) return true;
  return LOOKS.test(inWords(toolName));
}

/**
 * Strips the server's prefix from a tool name and joins its words by `_`: `mcp__files__readText` →
 * `read_Text`.
 */
export const inWords = (toolName: string): string =>
  toolName.replace(/^.*__/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_');

/** Returns true for a `view` call of a text editor whose commands share one tool. */
export function isEditorsView({ toolInput }: ConversationBlock): boolean {
  return isObject(toolInput) && toolInput['command'] === 'view';
}

/** The times, as block indexes, at which a conversation wrote its files. */
export interface Writes {
  /**
   * Returns true where a block after index `at` may have written a file that this block's call
   * names.
   */
  isSince(at: number, block: ConversationBlock): boolean;
}

export function writesOf(blocks: readonly ConversationBlock[]): Writes {
  const lastByName = new Map(
    blocks.flatMap((block, at) => writtenBy(block).map((name) => [name, at] as const)),
  );
  const trees = blocks.flatMap((block, at) => treesOf(block).map((tree) => ({ tree, at })));
  return {
    isSince(at, block) {
      if (namedBy(block).some((name) => (lastByName.get(name) ?? -1) > at)) return true;
      const later = trees.filter((one) => one.at > at);
      return (
        later.length > 0 &&
        pathsOf(block).some((path) => later.some(({ tree }) => isIn(tree, path)))
      );
    },
  };
}

function treesOf(block: ConversationBlock): ReturnType<typeof treesWrittenBy> {
  if (block.kind !== 'tool_use') return [];
  const { command } = hintsOf(block);
  return command === undefined ? [] : treesWrittenBy(command);
}

/** Returns the base name of every path in a call's input, whatever the path is for. */
export function namedBy(block: ConversationBlock): readonly string[] {
  const { command } = hintsOf(block);
  return command === undefined ? namesOf(block.toolInput) : namesIn(command);
}

/** Returns the full paths of the files that a call's input names. */
function pathsOf(block: ConversationBlock): readonly string[] {
  const { command, path } = hintsOf(block);
  if (command === undefined) return path === undefined ? [] : [path];
  return (command.match(PATH) ?? []).filter((word) => namesIn(word).length > 0);
}

function namesOf(input: unknown): readonly string[] {
  if (typeof input === 'string') return [...shortName(input), ...patched(input)];
  if (Array.isArray(input)) return input.flatMap(namesOf);
  return isObject(input) ? Object.values(input).flatMap(namesOf) : [];
}

/** Returns the base name of a text that can be a path. */
function shortName(path: string): readonly string[] {
  if (path.length > 1000 || path.includes('\n')) return [];
  const name = lastPart(path);
  return name === '' ? [] : [name];
}

const lastPart = (path: string): string => path.trim().split(/[/\\]/).at(-1) ?? '';

/** File names without an extension that a command may contain: `Makefile`, `README`, `.env`. */
const BARE =
  /^(?:(?:[A-Z][a-z]*|make|just)file|README|LICENSE|CHANGELOG|NOTICE|CODEOWNERS|\.[a-z][\w-]*)$/;

const namesIn = (command: string): readonly string[] =>
  [...command.matchAll(NAME)].flatMap(([word]) => {
    if (BARE.test(word)) return [word];
    const last = [...word.matchAll(EXTENSION)].at(-1);
    return last === undefined || last.index === 0
      ? []
      : [word.slice(0, last.index + last[0].length)];
  });

const patched = (text: string): readonly string[] =>
  [...text.matchAll(PATCHED)].flatMap(([, path]) => shortName(path!));
