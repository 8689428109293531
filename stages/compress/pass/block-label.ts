/** The origin of a block, and the label by which later blocks refer to it. */
import { printedBy } from '../../model/classify/command.ts';
import type { ClassifyHints } from '../../model/classify/hints.ts';
import type { ConversationBlock } from './blocks.ts';

const LABEL_CHARS = 24;
/** A redirection: it says nothing about what the command does. */
const REDIRECTION = /(?<!\s)\s*(?:\d?>{1,2}(?:&\d|\s*[^\s;&|]+)|<\s*\/dev\/null)/g;
/** A word that can be a path with folders in it. */
const PATH_WITH_FOLDERS = /(?<![^\s="'])[~.\w@+-]*(?:\/[\w.@+-]+)+\/?(?![^\s"';|&)])/g;

/** Leading `cd` and variable assignments of a command; the actual command follows. */
const LEADING_SETUP =
  /^(?:\s*(?:cd (?:"[^"]{0,200}"|'[^']{0,200}'|[^\s;&|"']{1,200})\s{0,4}(?:&&|;|\n)|[A-Z_][A-Z\d_]{0,40}=[^\s;&|"']{0,100} ))+\s*(?=\S)/;

const PATH_KEYS = ['file_path', 'path', 'filePath', 'filename', 'file'];
const COMMAND_KEYS = ['command', 'cmd', 'script'];
/** Commands of a text editor whose commands share one tool; they are not shell commands. */
const EDITOR_COMMAND = /^(?:view|create|insert|str_replace|undo_edit|delete|rename)$/;

/** Returns the origin of a tool result, as far as the tool's input shows it. */
export function originHints(
  block: Pick<ConversationBlock, 'toolName' | 'toolInput' | 'isError'>,
): ClassifyHints {
  const input =
    typeof block.toolInput === 'object' && block.toolInput !== null ? block.toolInput : {};
  const text = (keys: readonly string[]): string | undefined => {
    for (const key of keys) {
      const value = (input as Record<string, unknown>)[key];
      if (typeof value === 'string') return value;
      if (Array.isArray(value) && value.every((part) => typeof part === 'string'))
        return shellCommandOf(value) ?? value.join(' ');
    }
    return undefined;
  };
  const commandText = text(COMMAND_KEYS);
  const isVerb =
    commandText !== undefined && EDITOR_COMMAND.test(commandText) && text(PATH_KEYS) !== undefined;
  const command = isVerb ? undefined : commandText;
  const searches = /^(?:grep|search|glob|ls|list|find)/i.test(block.toolName ?? '');
  const path = command === undefined && !searches ? text(PATH_KEYS) : undefined;
  const query = command === undefined ? queryOf(input) : undefined;
  return {
    ...(block.toolName === undefined ? {} : { toolName: block.toolName }),
    ...(command === undefined ? {} : { command }),
    ...(path === undefined ? {} : { path }),
    ...(query === undefined ? {} : { query }),
    ...(block.isError === true ? { failed: true } : {}),
  };
}

/** Parameter names under which a call carries its query. */
const QUERY_KEYS =
  /^(?:q|query|queries|search_?(?:query|term|terms|text)|prompt|questions?|objective|topic|keywords?|instructions?)$/i;
const QUERY_CHARS = 1500;

function queryOf(input: object): string | undefined {
  const found = Object.entries(input).flatMap(([key, value]: readonly [string, unknown]) =>
    QUERY_KEYS.test(key) ? [value].flat().filter((part) => typeof part === 'string') : [],
  );
  const query = found.join('\n').trim().slice(0, QUERY_CHARS);
  return query === '' ? undefined : query;
}

/** Returns the command of `["bash", "-lc", "cat a.ts"]`; joining the list would lose its quotes. */
function shellCommandOf([shell, flag, command, ...more]: readonly string[]): string | undefined {
  const isHanded = more.length === 0 && /^(?:.*\/)?(?:ba|da|z)?sh$/.test(shell ?? '');
  return isHanded && /^-\w{0,3}c$/.test(flag ?? '') ? command : undefined;
}

/** Counts of the tool results and user texts so far; the next label is numbered by them. */
export interface LabelCounts {
  results: number;
  userTexts: number;
  /** The tool result that the last block belonged to; `parts` counts its blocks. */
  result: string | undefined;
  parts: number;
}

export function noLabelCounts(): LabelCounts {
  return { results: 0, userTexts: 0, result: undefined, parts: 0 };
}

/**
 * Returns the label by which later blocks refer to this one, whose origin is `hints`; undefined if
 * they may not refer to it. Tool results are counted as a reader counts them: one for each answered
 * call, whether with text, images or several parts. A later part is labelled as such.
 */
export function labelOf(
  block: ConversationBlock,
  hints: ClassifyHints,
  counts: LabelCounts,
): string | undefined {
  if (block.kind === 'user_text') return `user text ${++counts.userTexts}`;
  if (!countResult(block, counts) || block.kind !== 'tool_result') return undefined;
  return resultLabel(hints, counts);
}

/** Returns the label of the newest result, or of the part of it that came from `hints`. */
export function resultLabel(hints: ClassifyHints, counts: Readonly<LabelCounts>): string {
  const { command, path, toolName } = hints;
  const what = path === undefined ? commandLabel(command) : nameOf(path);
  const part = counts.parts > 1 ? `part ${counts.parts} of ` : '';
  return `${part}result ${counts.results} (${shortened(what ?? toolName ?? 'tool')})`;
}

/**
 * Returns the label of call `number`. No reader counts a hundred calls, so it includes the file or
 * the command.
 */
export function callLabel(block: ConversationBlock, number: number): string {
  const { command, path, toolName = 'tool' } = originHints(block);
  const what =
    path === undefined ? (commandLabel(command) ?? toolName) : `${toolName} ${nameOf(path)}`;
  return `call ${number} (${shortened(what)})`;
}

function shortened(label: string): string {
  return label.length > LABEL_CHARS ? `${label.slice(0, LABEL_CHARS - 1)}…` : label;
}

/**
 * Returns the one file that a command shows, else the command itself, without folders and
 * redirections.
 */
function commandLabel(command: string | undefined): string | undefined {
  if (command === undefined) return undefined;
  const core = command.slice(0, 500).replace(LEADING_SETUP, '');
  const { files = [], mixed } = printedBy(core);
  const [file] = files;
  if (file !== undefined && files.length === 1 && mixed !== true) return nameOf(file);
  return core.slice(0, 300).replaceAll(REDIRECTION, '').replaceAll(PATH_WITH_FOLDERS, nameOf);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/', path.length - 2) + 1);
}

/**
 * Counts a block of a tool result and returns true for one. A result without a message or an id
 * counts by itself.
 */
function countResult(block: ConversationBlock, counts: LabelCounts): boolean {
  if (block.kind !== 'tool_result' && block.role !== 'tool') return false;
  const { message, toolUseId } = block;
  const result = message === undefined ? undefined : `${message} ${toolUseId ?? ''}`;
  const isPart = result !== undefined && result === counts.result;
  counts.parts = isPart ? counts.parts + 1 : 1;
  if (!isPart) counts.results++;
  counts.result = result;
  return true;
}
