/**
 * Which program of a command printed the output, and which class that gives it. Paths and other
 * arguments never count as programs: `cat docker/app.py` shows a Python file.
 */
import type { TextClass } from './classes.ts';
import { afterFlags, operandsOf, valueFlags, type Valued } from './flags.ts';
import { roleOf, type Role } from './programs.ts';
import { pipelinesOf, type Pipeline, type SimpleCommand } from './shell.ts';
import { FILE_PLACEHOLDER, unwrap } from './unwrap.ts';

/** What a command prints: text of a class, or files as they are; neither if unknown. */
export interface Printed {
  readonly kind?: TextClass;
  /** The files by their names, or by the placeholder for a name that is only known at run time. */
  readonly files?: readonly string[];
  /** True if it prints other text besides files. */
  readonly mixed?: true;
  /** True if a program ran whose output is unknown: a script, or a tool of the project's own. */
  readonly ran?: true;
}

const RAN: Printed = { ran: true };

type Part = Printed | 'silent' | 'filter';

const MAX_COMMAND_CHARS = 2000;
const MAX_DEPTH = 3;
const SHELLS: ReadonlySet<string> = new Set(
  'bash sh zsh dash pwsh powershell cmd su runuser'.split(' '),
);
const RUN_TEXT = /^(?:-\w*c|-command|\/c)$/i;
const SSH_FLAGS = valueFlags('-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w');
/** Flags that make any program print information instead of doing its work. */
const INFORMATION_FLAG = /^--(?:help|version)$/;
/** Such flags of programs that mostly write logs. */
const ASKS_TOOL =
  /^--(?:list(?:-?tests|-?files(?:only)?)?|collect-only|co|fixtures|markers|print|print-config|show-?config|show-settings|show-files)$/i;

const COMPILERS: ReadonlySet<string> = new Set(
  'gcc g++ cc c++ clang clang++ gfortran rustc nasm protoc'.split(' '),
);
/** Flags that make a compiler print code or information. */
const ASKS_COMPILER = /^(?:-E|-M{1,2}|-dump|--?print\b|--decode|-Q|-###)/;

/** Returns what a command line prints, as far as all its printing programs agree. */
export function printedBy(command: string, depth = 0): Printed {
  const printed = pipelinesOf(command.slice(0, MAX_COMMAND_CHARS))
    .filter((pipeline) => !pipeline.at(-1)!.redirected)
    .map((pipeline) => printedByPipeline(pipeline, depth))
    .filter((part) => part !== 'silent');
  const kinds = new Set(printed.map((part) => (part.files === undefined ? part.kind : 'files')));
  const files = printed.flatMap((part) => part.files ?? []);
  const mixed = kinds.size > 1 || printed.some((part) => part.mixed === true);
  if (files.length > 0) return mixed ? { files, mixed } : { files };
  if (kinds.size === 1) return printed[0]!;
  // Programs that are silent on success print what went wrong.
  return kinds.size === 0 || kinds.has('log') || printed.some((part) => part.ran) ? RAN : {};
}

/**
 * Returns every program that a command line runs, in order, by its own name without its wrapper:
 * `cd` and `pytest` of `cd app && poetry run pytest -q`.
 */
export function programsOf(command: string, depth = 0): readonly string[] {
  return pipelinesOf(command.slice(0, MAX_COMMAND_CHARS))
    .flat()
    .flatMap(({ words }) => {
      const [name, ...args] = unwrap(words);
      if (name === undefined) return [];
      const text = depth < MAX_DEPTH ? runText(name, args) : undefined;
      return [name, ...(text === undefined ? [] : programsOf(text, depth + 1))];
    });
}

/**
 * The last program that shapes the output decides; programs that only pass text on are
 * skipped.
 */
function printedByPipeline(pipeline: Pipeline, depth: number): Printed | 'silent' {
  for (let at = pipeline.length - 1; at >= 0; at--) {
    const part = printedByOne(pipeline[at]!, at > 0, depth);
    if (part !== 'filter') return part;
  }
  return {};
}

function printedByOne(command: SimpleCommand, piped: boolean, depth: number): Part {
  const [name, ...args] = unwrap(command.words);
  // A program that is fed file names receives no text to filter.
  const fed = piped && !args.includes(FILE_PLACEHOLDER);
  if (name === undefined) return 'silent';
  const text = runText(name, args);
  if (text !== undefined && depth < MAX_DEPTH) return printedBy(text, depth + 1);
  if (has(args, INFORMATION_FLAG)) return { kind: 'other' };
  const role = roleOf(name, args);
  const inner = innerCommand(name, args);
  if (inner !== undefined && depth < MAX_DEPTH)
    return printedByOne({ words: inner, redirected: false }, false, depth + 1);
  if (role === undefined) return RAN;
  const special = SPECIAL.find(([kind, holds]) => kind === role && holds(name, args, fed));
  const found = special?.[2] ?? role;
  if (found === 'silent' || found === 'filter') return found;
  if (found === 'run') return RAN;
  if (found === 'anything') return {};
  if (found !== 'file') return { kind: found };
  const named = filesOf(name, args);
  const files = named.length > 0 || command.input === undefined ? named : [command.input];
  if (files.length > 0) return { files };
  return fed ? 'filter' : {};
}

/** Returns the command text that a shell runs, here or on another machine. */
function runText(name: string, args: readonly string[]): string | undefined {
  if (name === 'ssh') return afterFlags(afterFlags(args, SSH_FLAGS).slice(1), SSH_FLAGS).join(' ');
  const at = SHELLS.has(name) ? args.findIndex((arg) => RUN_TEXT.test(arg)) : -1;
  return at < 0 ? undefined : args.slice(at + 1).join(' ');
}

/** Returns the command that `find -exec` runs. */
function innerCommand(name: string, args: readonly string[]): readonly string[] | undefined {
  const at =
    name === 'find' ? args.findIndex((arg) => /^-(?:exec|execdir|ok|okdir)$/.test(arg)) : -1;
  if (at < 0) return undefined;
  const end = args.findIndex((arg, index) => index > at && /^[;+]$/.test(arg));
  return args.slice(at + 1, end < 0 ? args.length : end);
}

const has = (args: readonly string[], pattern: RegExp): boolean =>
  args.some((arg) => pattern.test(arg));

const PACKERS: ReadonlySet<string> = new Set('gzip gunzip bzip2 bunzip2 xz unxz zstd'.split(' '));

/** Returns true if `tar` has the flag, alone or combined; the first word needs no dash. */
function tarHas(args: readonly string[], letter: string, long: string): boolean {
  return args.some(
    (arg, at) =>
      arg === long || (arg.includes(letter) && (at === 0 ? /^-?\w+$/ : /^-\w+$/).test(arg)),
  );
}

const tarLists = (name: string, args: readonly string[]): boolean =>
  name === 'tar' && tarHas(args, 't', '--list') && !tarHas(args, 'x', '--extract');

const SEARCHES: ReadonlySet<string> = new Set('grep egrep fgrep zgrep'.split(' '));

/**
 * Returns true for `grep -v` of one file, without names or numbers: it prints the file without some
 * lines.
 */
function showsRest(name: string, args: readonly string[]): boolean {
  const isInverted = has(args, /^(?:-[a-zA-Z]*v[a-zA-Z]*|--invert-match)$/);
  const isLabelled = has(
    args,
    /^(?:-[a-zA-Z]*[nHcrRlLo][a-zA-Z]*|--(?:line-number|with-filename|count|recursive|only-matching))$/,
  );
  const files = SEARCHES.has(name) && isInverted && !isLabelled ? filesOf(name, args) : [];
  return files.length === 1 && !/[*?{]/.test(files[0]!);
}

/** Flags that make a program print something other than usual. */
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
  ['grep', (name, args, fed) => !fed && showsRest(name, args), 'file'],
  ['log', (_, args) => has(args, ASKS_TOOL), 'other'],
  ['log', (name, args) => /^[sl]trace$/.test(name) && /^-\w*[cC]$/.test(args[0] ?? ''), 'other'],
  ['log', (name, args) => COMPILERS.has(name) && has(args, ASKS_COMPILER), 'anything'],
  ['run', (name, args) => name === 'node' && has(args, /^--test(?:$|-|=)/), 'log'],
  ['filter', (name, args) => name === 'perl' && !has(args, /^-\w*[np]/), 'run'],
  ['anything', (name, args) => name === 'curl' && has(args, /^(?:-\w*v|--verbose|--trace)/), 'log'],
  ['run', (name, args) => name === 'php' && /^-(?:i|m|v)$/.test(args[0] ?? ''), 'other'],
  ['run', (name, args) => name === 'gpg' && has(args, /^--?(?:list|show|k$|K$|export)/), 'other'],
  [
    'silent',
    (name, args) =>
      /^(?:export|alias|set|declare|trap)$/.test(name) && (args.length === 0 || args[0] === '-p'),
    'other',
  ],
  ['run', (name, args) => name === 'tar' && tarHas(args, 'O', '--to-stdout'), 'file'],
  ['run', (name, args) => tarLists(name, args) && tarHas(args, 'v', '--verbose'), 'other'],
  ['run', tarLists, 'listing'],
  ['run', (name, args) => name === 'unzip' && has(args, /^-\w*[pc]/), 'file'],
  ['run', (name, args) => name === 'unzip' && has(args, /^-\w*l/), 'listing'],
  ['run', (name, args) => PACKERS.has(name) && has(args, /^-\w*c|^--(?:to-)?stdout$/), 'file'],
  ['file', (name, args) => name === 'sed' && has(args, /^(?:-i|--in-place)/), 'silent'],
  ['file', (name, args) => name === 'tail' && has(args, /^(?:-\w*[fF]|--follow)/), 'log'],
  [
    'diff',
    (name, args) => name === 'git' && args[0] === 'show' && has(args, /^[\w/.@~^-]+:./),
    'file',
  ],
  [
    'other',
    (name, args) => name === 'git' && args[0] === 'cat-file' && has(args, /^[\w/.@~^-]+:./),
    'file',
  ],
  [
    'other',
    (name, args) => name === 'git' && args[0] === 'log' && has(args, /^(?:-p|-u|--patch)$/),
    'diff',
  ],
];

/** Flags of viewers that take a value. */
const VIEWER_FLAGS: ReadonlyMap<string, Valued> = new Map(
  (
    [
      ['head tail', '-n -c -s --lines --bytes --pid --sleep-interval'],
      ['sed', '-e -f -l --expression --file --line-length'],
      ['awk gawk mawk', '-e -f -F -v --source --file --field-separator --assign'],
      ['nl', '-b -d -f -h -i -l -n -s -v -w'],
      [
        'bat batcat',
        '-l -H -r -m --language --highlight-line --line-range --map-syntax --style --theme --tabs --wrap --terminal-width --file-name --color --paging --pager --decorations',
      ],
      ['pygmentize', '-l -f -F -O -P -o'],
      ['glow', '-s -w --style --width'],
      ['grep egrep fgrep zgrep', '-e -f -m -A -B -C --regexp --file --max-count'],
    ] as const
  ).flatMap(([names, flags]) => names.split(' ').map((name) => [name, valueFlags(flags)] as const)),
);
const NO_VALUES = valueFlags('');
/** With the script in a flag's value, all operands are files. */
const SCRIPT_FLAG = /^(?:-\w*[ef]|--(?:expression|file|source)(?:=.*)?)$/;
const TAKES_SCRIPT: ReadonlySet<string> = new Set(
  'sed awk gawk mawk grep egrep fgrep zgrep'.split(' '),
);

/**
 * Returns the operands that are files: not flags, numbers, ranges, or a leading script or leading
 * flags without a dash.
 */
function filesOf(name: string, args: readonly string[]): readonly string[] {
  const operands = operandsOf(args, VIEWER_FLAGS.get(name) ?? NO_VALUES);
  const isScripted = TAKES_SCRIPT.has(name) && !has(args, SCRIPT_FLAG);
  const isBare = name === 'tar' && args[0]?.startsWith('-') === false;
  const files = operands
    .slice(isScripted || isBare ? 1 : 0)
    .filter((word) => word !== '-' && !/^\+?\d*(?:[,:]\d*)?$/.test(word));
  return name === 'git'
    ? files.filter((word) => word.includes(':')).map((word) => word.slice(word.indexOf(':') + 1))
    : files;
}
