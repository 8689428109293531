/**
 * Which files a conversation wrote to, as far as its calls show. In doubt a file counts as written:
 * what an agent works on must stay in front of it.
 */
import { isObject } from '../../../dialect/json-kind.ts';
import { programsOf } from '../../../model/classify/command.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { hintsOf } from '../../pass/block-label.ts';
import { isIn, treesWrittenBy } from './tree-writers.ts';

/** Tools that only look. */
const LOOKS = /(?:^|_)(?:read|view|cat|open|show|get|list|ls|glob|grep|search|find|fetch|web)/i;
/** Programs that only look, or run what is there; behind a redirection or with `-i` they write too. */
const READERS: ReadonlySet<string> = new Set(
  (
    'cat bat less more head tail nl wc sed awk grep egrep fgrep rg ag ack find fd ls tree file stat du ' +
    'cd pwd echo printf true test sort uniq cut tr diff cmp jq xxd od strings which type env ' +
    'pytest jest vitest mocha tsc eslint mypy tox nox make cargo go npm npx yarn pnpm node timeout time'
  ).split(' '),
);
const WRITES =
  /(?:^|[^<>=-])>{1,2}(?!&|\s*\/dev\/null)|\s-\w*i\b|--(?:fix|write|in-place)|<<|\btee\b/;
/** What may be the name of a file, in a command or the headers of a patch, and how such names end. */
const NAME = /[\w.@+-]+/g;
const PATH = /[\w.@+/-]+/g;
const EXTENSION = /\.[A-Za-z]\w{0,9}(?![\w.])/g;
const PATCHED = /^(?:\*\*\* (?:Update|Add|Delete) File: |\*\*\* Move to: |[-+]{3} )(.+)$/gm;

/** The last part of every path that a call may have written to, by block: of a block what it writes itself. */
export function writtenBy(block: ConversationBlock): readonly string[] {
  if (block.kind !== 'tool_use' || onlyLooks(block)) return [];
  const { command } = hintsOf(block);
  // Files without an ending, `Makefile`, look like any other word.
  if (command !== undefined)
    return [...(command.match(NAME) ?? []), ...namesIn(command), ...patched(command)];
  return namesOf(block.toolInput);
}

/** True of a call that writes to no file, as far as its tool's name or its command shows. */
export function onlyLooks(call: ConversationBlock): boolean {
  const { command, toolName = '' } = hintsOf(call);
  if (command !== undefined)
    return !WRITES.test(command) && programsOf(command).every((one) => READERS.has(one));
  if (isEditorsView(call)) return true;
  return LOOKS.test(inWords(toolName));
}

/** A tool's own name behind its server's, its words joined by `_`: of `mcp__files__readText` it is `read_Text`. */
export const inWords = (toolName: string): string =>
  toolName.replace(/^.*__/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_');

/** True of a text editor that is one tool, where it is told to show something. */
export function isEditorsView({ toolInput }: ConversationBlock): boolean {
  return isObject(toolInput) && toolInput['command'] === 'view';
}

/** When the files of a conversation were written to. */
export interface Writes {
  /** True where a file that the block's call names may have been written to by a block behind the one numbered `at`. */
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

/** The last part of every path that a call's input names, for whatever purpose. */
export function namedBy(block: ConversationBlock): readonly string[] {
  const { command } = hintsOf(block);
  return command === undefined ? namesOf(block.toolInput) : namesIn(command);
}

/** Whole paths of the files that a call's input names. */
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

/** Of a text that can be a path, its last part. */
function shortName(path: string): readonly string[] {
  if (path.length > 1000 || path.includes('\n')) return [];
  const name = lastPart(path);
  return name === '' ? [] : [name];
}

const lastPart = (path: string): string => path.trim().split(/[/\\]/).at(-1) ?? '';

/** Files without an ending that a command names: `Makefile`, `README`, `.env`. */
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
