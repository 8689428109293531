/**
 * How to request a part of a tool's result in the tool's own terms: a file reader that takes line
 * numbers, or a read-only shell command.
 */
import { isObject, stringOf } from '../../../dialect/json-kind.ts';
import type { JsonObject } from '../../../dialect/json-kind.ts';
import { operandsOf, valueFlags } from '../../../model/classify/flags.ts';
import { programsOf } from '../../../model/classify/command.ts';
import { pipelinesOf } from '../../../model/classify/shell.ts';
import { unwrap } from '../../../model/classify/unwrap.ts';
import { originHints } from '../../pass/block-label.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';
import { writtenBy } from '../forget/file-writes.ts';
import { definitionsIn } from '../../../dialect/tool-definitions.ts';

/**
 * The text of a request for a range of lines, with `{from}`, `{to}` and `{count}` for lines counted
 * from 1, and `{before}` for the number of lines before the first.
 */
export type RangeRequest = string;

/** Fills line numbers into a request; `from` and `to` are a half-open range counted from 0. */
export function fillRange(words: RangeRequest, from: number, to: number): string {
  return words
    .replaceAll('{from}', String(from + 1))
    .replaceAll('{to}', String(to))
    .replaceAll('{count}', String(to - from))
    .replaceAll('{before}', String(from));
}

/** Input schemas of the tools that a request body declares, by tool name, in any dialect. */
export type DeclaredTools = ReadonlyMap<string, JsonObject>;

export function declaredTools(body: unknown): DeclaredTools {
  return new Map(definitionsIn(body).map(({ name, schema }) => [name, schema?.value ?? {}]));
}

/** Returns undefined for a call whose result cannot be requested in parts, or is already a part. */
export function rangeRequestFor(
  call: ConversationBlock,
  declared: DeclaredTools,
): RangeRequest | undefined {
  const { toolInput, toolName = '' } = call;
  if (isObject(toolInput) && toolInput['command'] === 'view')
    return typeof toolInput['path'] === 'string' && !isRanged(toolInput)
      ? (rangeByParameters(toolName, declared.get(toolName) ?? {}) ??
          `${toolName} with view_range [{from}, {to}]`)
      : undefined;
  const { command, path } = originHints(call);
  if (command !== undefined) return rangeByCommand(call, command);
  if (path === undefined || isRanged(toolInput) || !READER_NAME.test(normalizedName(toolName)))
    return undefined;
  const schema = declared.get(toolName);
  if (schema !== undefined) return rangeByParameters(toolName, schema);
  // With tool search, Claude Code sends the schema of `Read` later than calls of it.
  return toolName === 'Read' ? 'Read with offset {from} and limit {count}' : undefined;
}

const READER_NAME = /(?:^|_)(?:read|view|open|cat|show|get|load|file)(?:_|$)/;

/** Strips the server's prefix from a tool name, lower-cases it and joins its words by `_`. */
function normalizedName(toolName: string): string {
  const own = toolName.slice(0, 100).replace(/^.*(?:__|[.:/])(?=\w)/, '');
  return own.replaceAll(/(?<=[a-z\d])(?=[A-Z])|[\s-]+/g, '_').toLowerCase();
}

/** Parameter names, in lower case without underscores. */
const FIRST_LINE =
  /^(?:start|begin|from|first)(?:line)?(?:number)?(?:oneindexed)?$|^line(?:start|from|begin)$/;
const LAST_LINE =
  /^(?:end|to|last)(?:line)?(?:number)?(?:oneindexed)?(?:inclusive)?$|^line(?:end|to)$/;
const SKIPPED_LINES = /^(?:line)?offset$|^skip(?:lines)?$/;
const LINE_COUNT = /^(?:limit|maxlines|numlines|linecount|numberoflines|linelimit)$/;
const LINE_RANGE = /^(?:view|line)?ranges?$|^lines$/;
const ZERO_BASED = /\b(?:0|zero)[- ](?:based|indexed)|\bstart(?:s|ing)? (?:at|from) (?:0|zero)\b/i;

interface Parameter {
  readonly name: string;
  readonly schema: JsonObject;
}

function rangeByParameters(toolName: string, schema: JsonObject): RangeRequest | undefined {
  const all = parametersOf(schema);
  const named = (pattern: RegExp): Parameter | undefined =>
    all.find(({ name }) => pattern.test(normalized(name)));
  const [first, last, skipped, count] = [FIRST_LINE, LAST_LINE, SKIPPED_LINES, LINE_COUNT].map(
    named,
  );
  const start = first ?? skipped;
  if (start !== undefined && (last ?? count) !== undefined) {
    const isFromZero = ZERO_BASED.test(stringOf(start.schema['description']) ?? '');
    const from = `${start.name} ${isFromZero ? '{before}' : '{from}'}`;
    if (last === undefined) return `${toolName} with ${from} and ${count!.name} {count}`;
    return isFromZero ? undefined : `${toolName} with ${from} and ${last.name} {to}`;
  }
  const range = named(LINE_RANGE);
  if (range === undefined) return undefined;
  const isText = /string/.test(JSON.stringify([range.schema['type'], range.schema['items'] ?? '']));
  return `${toolName} with ${range.name} ${isText ? '{from}-{to}' : '[{from}, {to}]'}`;
}

const normalized = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

const MAX_DEPTH = 4;

/** Lists the parameters of an input schema, including those of nested objects and lists. */
function parametersOf(schema: JsonObject, depth = 0): readonly Parameter[] {
  if (depth > MAX_DEPTH) return [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const own = Object.entries(properties).flatMap(([name, inner]) =>
    isObject(inner) ? [{ name, schema: inner }] : [],
  );
  const items = isObject(schema['items']) ? [schema['items']] : [];
  const inner = [...own.map((one) => one.schema), ...items];
  return [...own, ...inner.flatMap((one) => parametersOf(one, depth + 1))];
}

/**
 * Returns true for an input that already asks for a part; a range from the beginning to the end is
 * not a part.
 */
export function isRanged(input: unknown): boolean {
  if (Array.isArray(input)) return input.some(isRanged);
  if (!isObject(input)) return false;
  return Object.entries(input).some(([name, value]) => {
    if (value === null || value === undefined || value === '') return false;
    const key = normalized(name);
    if (FIRST_LINE.test(key) || SKIPPED_LINES.test(key))
      return Number(value) !== 0 && Number(value) !== 1;
    if (LINE_RANGE.test(key) && Array.isArray(value)) return !(value[0] === 1 && value[1] === -1);
    if (LINE_RANGE.test(key) || LAST_LINE.test(key) || LINE_COUNT.test(key)) return true;
    return isRanged(value);
  });
}

/** Programs that only read and print, whatever their arguments; redirections aside. */
const READ_ONLY_PROGRAMS: ReadonlySet<string> = new Set(
  (
    'cat bat batcat less more nl grep egrep fgrep rg ag ack find ls tree jq yq xxd od strings ' +
    'sort uniq cut tr wc diff cmp cd pwd echo printf true test git pygmentize glow column fold'
  ).split(' '),
);
const READ_ONLY_GIT: ReadonlySet<string> = new Set([
  'show',
  'blame',
  'cat-file',
  'grep',
  'ls-files',
]);
/**
 * A shell that runs a command string; `find` options with side effects, and command substitution.
 */
const SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z)?sh -l?c /;
const MAY_ACT = /\s-(?:exec|execdir|ok|okdir|delete|fprint\w*)\b|[$<]\(|`/;
const FILE_VIEWERS: ReadonlySet<string> = new Set(['cat', 'less', 'more', 'bat', 'batcat', 'nl']);
/** Characters that a shell expands. */
const PATTERN = /[*?[\]{}$]/;
const NO_VALUES = valueFlags('');
const MAX_COMMAND_CHARS = 2000;

/**
 * Returns `sed -n '13,424p' src/a.ts` for a command that shows one file, otherwise the command with
 * a pipe into `sed`.
 */
function rangeByCommand(call: ConversationBlock, whole: string): RangeRequest | undefined {
  const command = unquoted(whole.replace(SHELL, ''));
  if (command.length > MAX_COMMAND_CHARS || MAY_ACT.test(command)) return undefined;
  const programs = programsOf(command);
  if (programs.length === 0 || !programs.every((name) => READ_ONLY_PROGRAMS.has(name)))
    return undefined;
  const pipelines = pipelinesOf(command).filter((pipeline) => pipeline.length > 0);
  const words = pipelines.flat().map((one) => unwrap(one.words));
  const writes = pipelines.flat().some(({ redirected }) => redirected);
  if (writes || words.some(([name, verb]) => name === 'git' && !READ_ONLY_GIT.has(verb ?? '')))
    return undefined;
  // Any other program may write; Git's subcommands were checked above.
  if (
    !programs.includes('git') &&
    writtenBy({ ...call, kind: 'tool_use', toolInput: { command } }).length > 0
  )
    return undefined;
  const [first = [], ...others] = words.filter(([name]) => name !== 'cd');
  const [name = '', ...args] = first;
  const [file = '*', ...more] = operandsOf(args, NO_VALUES);
  // Under `sudo` or in a container, a command of its own may not find the file.
  const isPlain = pipelines.flat().some((one) => one.words[0] === name);
  const cds = words.filter(([program]) => program === 'cd');
  if (
    others.length === 0 &&
    isPlain &&
    FILE_VIEWERS.has(name) &&
    more.length === 0 &&
    ![file, ...cds.flat()].some((word) => PATTERN.test(word))
  ) {
    const cdPrefix = cds.map((cd) => `${cd.map(quoted).join(' ')} && `).join('');
    return `${cdPrefix}sed -n '{from},{to}p' ${quoted(file)}`;
  }
  return pipelines.length === 1
    ? "the same command with | sed -n '{from},{to}p' behind it"
    : "the same command in { …; } | sed -n '{from},{to}p'";
}

/** Strips the quotes from a text quoted as a whole, as a shell does. */
const unquoted = (text: string): string => /^'([^']*)'$/.exec(text)?.[1] ?? text;

const quoted = (path: string): string =>
  /^[\w./@%+,:~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
