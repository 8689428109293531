/**
 * Which files a conversation wrote to, judging by its calls. When in doubt a file counts as
 * written: the files an agent is working on must stay in its context.
 */
import { isObject } from '../../../dialect/json-kind.ts';
import { programsOf } from '../../../model/classify/command.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { originHints } from '../../pass/block-label.ts';
import { mayBeIn, treesWrittenBy } from './tree-writers.ts';

/** Names of read-only tools. */
const READ_ONLY_TOOLS =
  /(?:^|_)(?:read|view|cat|open|show|get|list|ls|glob|grep|search|find|fetch|web)/i;
/** Programs that only read, or run existing code; with a redirection or `-i` they write too. */
const READ_ONLY_PROGRAMS: ReadonlySet<string> = new Set(
  (
    'cat bat less more head tail nl wc sed awk grep egrep fgrep rg ag ack find fd ls tree file stat du ' +
    'cd pwd echo printf true test sort uniq cut tr diff cmp jq xxd od strings which type env ' +
    'pytest jest vitest mocha tsc eslint mypy tox nox make cargo go npm npx yarn pnpm node timeout time'
  ).split(' '),
);
const WRITE_OPTIONS =
  /(?:^|[^<>=-])>{1,2}(?!&|\s*\/dev\/null)|\s-\w*i\b|--(?:fix|write|in-place)|<<|\btee\b/;
/** Possible file names in a command or in the headers of a patch, and how such names end. */
const FILE_NAME = /[\w.@+-]+/g;
const FILE_PATH = /[\w.@+/-]+/g;
const EXTENSION = /\.[A-Za-z]\w{0,9}(?![\w.])/g;
const PATCH_HEADER = /^(?:\*\*\* (?:Update|Add|Delete) File: |\*\*\* Move to: |[-+]{3} )(.+)$/gm;

/**
 * Returns the base names of all paths that a tool call may have written to; empty for other blocks.
 */
export function writtenBy(block: ConversationBlock): readonly string[] {
  if (block.kind !== 'tool_use' || isReadOnlyCall(block)) return [];
  const { command } = originHints(block);
  // File names without an extension, such as `Makefile`, look like any other word.
  if (command !== undefined)
    return [...(command.match(FILE_NAME) ?? []), ...namesIn(command), ...patchedPaths(command)];
  return namesOf(block.toolInput);
}

/** Returns true for a call that writes no file, judging by the tool's name or its command. */
export function isReadOnlyCall(call: ConversationBlock): boolean {
  const { command, toolName = '' } = originHints(call);
  if (command !== undefined)
    return (
      !WRITE_OPTIONS.test(command) &&
      programsOf(command).every((one) => READ_ONLY_PROGRAMS.has(one))
    );
  if (isEditorView(call)) return true;
  return READ_ONLY_TOOLS.test(toSnakeCase(toolName));
}

/**
 * Strips the server's prefix from a tool name and joins its words by `_`: `mcp__files__readText` →
 * `read_Text`.
 */
export const toSnakeCase = (toolName: string): string =>
  toolName.replace(/^.*__/, '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_');

/** Returns true for a `view` call of a text editor whose commands share one tool. */
export function isEditorView({ toolInput }: ConversationBlock): boolean {
  return isObject(toolInput) && toolInput['command'] === 'view';
}

/** The times, as block indexes, at which a conversation wrote its files. */
export interface FileWrites {
  /**
   * Returns true if a block after index `at` may have written a file that this block's call names.
   */
  isWrittenAfter(at: number, block: ConversationBlock): boolean;
}

export function fileWritesOf(blocks: readonly ConversationBlock[]): FileWrites {
  const lastByName = new Map(
    blocks.flatMap((block, at) => writtenBy(block).map((name) => [name, at] as const)),
  );
  const trees = blocks.flatMap((block, at) => treesOf(block).map((tree) => ({ tree, at })));
  return {
    isWrittenAfter(at, block) {
      if (fileNamesOf(block).some((name) => (lastByName.get(name) ?? -1) > at)) return true;
      const later = trees.filter((one) => one.at > at);
      return (
        later.length > 0 &&
        pathsOf(block).some((path) => later.some(({ tree }) => mayBeIn(tree, path)))
      );
    },
  };
}

function treesOf(block: ConversationBlock): ReturnType<typeof treesWrittenBy> {
  if (block.kind !== 'tool_use') return [];
  const { command } = originHints(block);
  return command === undefined ? [] : treesWrittenBy(command);
}

/** Returns the base name of every path in a call's input, whatever the path is for. */
export function fileNamesOf(block: ConversationBlock): readonly string[] {
  const { command } = originHints(block);
  return command === undefined ? namesOf(block.toolInput) : namesIn(command);
}

/** Returns the full paths of the files that a call's input names. */
function pathsOf(block: ConversationBlock): readonly string[] {
  const { command, path } = originHints(block);
  if (command === undefined) return path === undefined ? [] : [path];
  return (command.match(FILE_PATH) ?? []).filter((word) => namesIn(word).length > 0);
}

function namesOf(input: unknown): readonly string[] {
  if (typeof input === 'string') return [...baseNamesOf(input), ...patchedPaths(input)];
  if (Array.isArray(input)) return input.flatMap(namesOf);
  return isObject(input) ? Object.values(input).flatMap(namesOf) : [];
}

/** Returns the base name of a text that can be a path. */
function baseNamesOf(path: string): readonly string[] {
  if (path.length > 1000 || path.includes('\n')) return [];
  const name = lastPart(path);
  return name === '' ? [] : [name];
}

const lastPart = (path: string): string => path.trim().split(/[/\\]/).at(-1) ?? '';

/** File names without an extension that a command may contain: `Makefile`, `README`, `.env`. */
const EXTENSIONLESS_NAME =
  /^(?:(?:[A-Z][a-z]*|make|just)file|README|LICENSE|CHANGELOG|NOTICE|CODEOWNERS|\.[a-z][\w-]*)$/;

const namesIn = (command: string): readonly string[] =>
  [...command.matchAll(FILE_NAME)].flatMap(([word]) => {
    if (EXTENSIONLESS_NAME.test(word)) return [word];
    const last = [...word.matchAll(EXTENSION)].at(-1);
    return last === undefined || last.index === 0
      ? []
      : [word.slice(0, last.index + last[0].length)];
  });

const patchedPaths = (text: string): readonly string[] =>
  [...text.matchAll(PATCH_HEADER)].flatMap(([, path]) => baseNamesOf(path!));
