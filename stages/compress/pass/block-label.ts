/** Where a block came from, and how later blocks name it. */
import { printedBy } from '../../model/classify/command.ts';
import type { ClassifyHints } from '../../model/classify/hints.ts';
import type { ConversationBlock } from './blocks.ts';

const LABEL_CHARS = 24;
/** Where a shell sends what is printed: it says nothing of what a command does. */
const REDIRECTION = /(?<!\s)\s*(?:\d?>{1,2}(?:&\d|\s*[^\s;&|]+)|<\s*\/dev\/null)/g;
/** A word that can be a path with folders in it. */
const IN_FOLDERS = /(?<![^\s="'])[~.\w@+-]*(?:\/[\w.@+-]+)+\/?(?![^\s"';|&)])/g;

/** Where a command goes first, and the variables it sets: what it does comes behind. */
const ON_THE_WAY =
  /^(?:\s*(?:cd (?:"[^"]{0,200}"|'[^']{0,200}'|[^\s;&|"']{1,200})\s{0,4}(?:&&|;|\n)|[A-Z_][A-Z\d_]{0,40}=[^\s;&|"']{0,100} ))+\s*(?=\S)/;

const PATH_KEYS = ['file_path', 'path', 'filePath', 'filename', 'file'];
const COMMAND_KEYS = ['command', 'cmd', 'script'];
/** What a text editor that is one tool is told to do with a path; no shell is asked. */
const EDITOR_VERB = /^(?:view|create|insert|str_replace|undo_edit|delete|rename)$/;

/** Where a tool result came from, as far as the tool's input shows. */
export function hintsOf(
  block: Pick<ConversationBlock, 'toolName' | 'toolInput' | 'isError'>,
): ClassifyHints {
  const input =
    typeof block.toolInput === 'object' && block.toolInput !== null ? block.toolInput : {};
  const text = (keys: readonly string[]): string | undefined => {
    for (const key of keys) {
      const value = (input as Record<string, unknown>)[key];
      if (typeof value === 'string') return value;
      if (Array.isArray(value) && value.every((part) => typeof part === 'string'))
        return handedToShell(value) ?? value.join(' ');
    }
    return undefined;
  };
  const told = text(COMMAND_KEYS);
  const isVerb = told !== undefined && EDITOR_VERB.test(told) && text(PATH_KEYS) !== undefined;
  const command = isVerb ? undefined : told;
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

/** Under which names a call says what it asks for. */
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

/** The command of `["bash", "-lc", "cat a.ts"]`; joined, its quotes would be lost. */
function handedToShell([shell, flag, command, ...more]: readonly string[]): string | undefined {
  const isHanded = more.length === 0 && /^(?:.*\/)?(?:ba|da|z)?sh$/.test(shell ?? '');
  return isHanded && /^-\w{0,3}c$/.test(flag ?? '') ? command : undefined;
}

/** How many tool results and user texts were seen: what the next one is called. */
export interface LabelCounts {
  results: number;
  userTexts: number;
  /** The tool result that the last block belonged to, and how many blocks of it there were. */
  result: string | undefined;
  parts: number;
}

export function noLabels(): LabelCounts {
  return { results: 0, userTexts: 0, result: undefined, parts: 0 };
}

/**
 * How later blocks name this one, of which `hints` are known; undefined where they may not refer to it. Tool results
 * are counted as a reader counts them: one for each call that was answered, whether with
 * text, with images or with several parts. A later part is named as such.
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

/** How the newest result is named, or what of it came from where `hints` say. */
export function resultLabel(hints: ClassifyHints, counts: Readonly<LabelCounts>): string {
  const { command, path, toolName } = hints;
  const what = path === undefined ? whatOf(command) : nameOf(path);
  const part = counts.parts > 1 ? `part ${counts.parts} of ` : '';
  return `${part}result ${counts.results} (${shortened(what ?? toolName ?? 'tool')})`;
}

/** How call `number` is named: nobody counts a hundred of them, so it says which file it writes, or what it runs. */
export function callLabel(block: ConversationBlock, number: number): string {
  const { command, path, toolName = 'tool' } = hintsOf(block);
  const what = path === undefined ? (whatOf(command) ?? toolName) : `${toolName} ${nameOf(path)}`;
  return `call ${number} (${shortened(what)})`;
}

function shortened(label: string): string {
  return label.length > LABEL_CHARS ? `${label.slice(0, LABEL_CHARS - 1)}…` : label;
}

/** The one file that a command shows, else the command itself, without folders and redirections. */
function whatOf(command: string | undefined): string | undefined {
  if (command === undefined) return undefined;
  const does = command.slice(0, 500).replace(ON_THE_WAY, '');
  const { files = [], mixed } = printedBy(does);
  const [file] = files;
  if (file !== undefined && files.length === 1 && mixed !== true) return nameOf(file);
  return does.slice(0, 300).replaceAll(REDIRECTION, '').replaceAll(IN_FOLDERS, nameOf);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/', path.length - 2) + 1);
}

/** True for a block of a tool result. A result without a message or an id is one of its own. */
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
