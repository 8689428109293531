/**
 * Which program of a command printed the output, and what that makes it. Paths and other
 * arguments never count as programs: `cat docker/app.py` shows a Python file.
 */
import type { TextClass } from './classes.ts';
import { roleOf, type Role } from './programs.ts';
import { pipelinesOf, type Pipeline, type SimpleCommand } from './shell.ts';
import { unwrap } from './unwrap.ts';

/** What a command prints: text of a class, or files as they are; neither where it is not known. */
export interface Printed {
  readonly kind?: TextClass;
  readonly files?: readonly string[];
}

type Part = Printed | 'silent' | 'filter';

const LONGEST = 2000;
const MAX_DEPTH = 3;
const SHELLS: ReadonlySet<string> = new Set('bash sh zsh dash pwsh powershell cmd'.split(' '));
const RUN_TEXT = /^(?:-\w*c|-command|\/c)$/i;

/** What a command line prints, as far as all its programs that print agree. */
export function printedBy(command: string, depth = 0): Printed {
  const printed = pipelinesOf(command.slice(0, LONGEST))
    .filter((pipeline) => !pipeline.at(-1)!.redirected)
    .map((pipeline) => printedByPipeline(pipeline, depth))
    .filter((part) => part !== 'silent');
  const kinds = new Set(printed.map((part) => (part.files === undefined ? part.kind : 'files')));
  if (kinds.size !== 1) return {};
  const files = printed.flatMap((part) => part.files ?? []);
  return files.length > 0 ? { files } : printed[0]!;
}

/** The last program that forms the output decides; what only passes on is looked through. */
function printedByPipeline(pipeline: Pipeline, depth: number): Printed | 'silent' {
  for (let at = pipeline.length - 1; at >= 0; at--) {
    const part = printedByOne(pipeline[at]!, at > 0, depth);
    if (part !== 'filter') return part;
  }
  return {};
}

function printedByOne({ words }: SimpleCommand, fed: boolean, depth: number): Part {
  const [name, ...args] = unwrap(words);
  if (name === undefined) return 'silent';
  const text = runText(name, args);
  if (text !== undefined && depth < MAX_DEPTH) return printedBy(text, depth + 1);
  if (args.includes('--help') || args.includes('--version')) return { kind: 'other' };
  const role = roleOf(name, args);
  const inner = innerCommand(name, args);
  if (inner !== undefined && depth < MAX_DEPTH)
    return printedByOne({ words: inner, redirected: false }, false, depth + 1);
  if (role === undefined) return {};
  const special = SPECIAL.find(([kind, holds]) => kind === role && holds(name, args, fed));
  const found = special?.[2] ?? role;
  if (found === 'silent' || found === 'filter') return found;
  if (found !== 'file') return { kind: found };
  const files = filesOf(name, args);
  if (files.length > 0) return { files };
  return fed ? 'filter' : {};
}

/** The text that a shell runs, here or on another machine. */
function runText(name: string, args: readonly string[]): string | undefined {
  if (name === 'ssh')
    return args.slice(args.findIndex((arg) => !arg.startsWith('-')) + 1).join(' ');
  const at = SHELLS.has(name) ? args.findIndex((arg) => RUN_TEXT.test(arg)) : -1;
  return at < 0 ? undefined : args.slice(at + 1).join(' ');
}

/** What `find -exec` runs. */
function innerCommand(name: string, args: readonly string[]): readonly string[] | undefined {
  const at = name === 'find' ? args.findIndex((arg) => /^-(?:exec|execdir|ok)$/.test(arg)) : -1;
  return at < 0 ? undefined : args.slice(at + 1);
}

const has = (args: readonly string[], pattern: RegExp): boolean =>
  args.some((arg) => pattern.test(arg));

/** Flags that make a program print something else than it mostly does. */
const SPECIAL: readonly (readonly [
  Role,
  (name: string, args: readonly string[], fed: boolean) => boolean,
  Role,
])[] = [
  ['grep', (_, args, fed) => fed && has(args, /^(?:-\w*v\w*|--invert-match)$/), 'filter'],
  [
    'grep',
    (_, args) => has(args, /^(?:-[a-zA-Z]*[lL]|--files|--files-with\w*-match\w*)$/),
    'listing',
  ],
  ['file', (name, args) => name === 'sed' && has(args, /^(?:-i|--in-place)/), 'silent'],
  ['file', (name, args) => name === 'tail' && has(args, /^(?:-\w*[fF]|--follow)/), 'log'],
  [
    'diff',
    (name, args) => name === 'git' && args[0] === 'show' && has(args, /^[\w/.@~^-]+:./),
    'file',
  ],
  [
    'other',
    (name, args) => name === 'git' && args[0] === 'log' && has(args, /^(?:-p|-u|--patch)$/),
    'diff',
  ],
  ['other', (name, args) => name === 'git' && args[0] === 'stash' && has(args, /^show$/), 'diff'],
];

const TAKES_SCRIPT: ReadonlySet<string> = new Set('sed awk gawk mawk'.split(' '));

/** Operands that are files: no flags, numbers, ranges, or the script that comes first. */
function filesOf(name: string, args: readonly string[]): readonly string[] {
  const scripted = args.some((arg) => /^-[ef]$/.test(arg));
  const operands = args.filter(
    (arg, at) => !/^-|^\d*[,:]?\d*$/.test(arg) && !/^-[efv]$/.test(args[at - 1] ?? ''),
  );
  const files = operands.slice(TAKES_SCRIPT.has(name) && !scripted ? 1 : 0);
  return name === 'git' ? files.slice(1).map((file) => file.slice(file.indexOf(':') + 1)) : files;
}
