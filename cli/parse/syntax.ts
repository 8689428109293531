/** Turns an invalid command line into a message with the probable intention. */
import type { Definition } from 'clipanion';
import { SvcError } from '../../engine/error.ts';
import { didYouMean } from '../../server/config/did-you-mean.ts';

/** The parser's information about a command that nearly matched. */
interface Candidate {
  readonly reason: string | null;
}

/** Returns the usage error for `argv`; `thrown` is the parser's error, if it was run. */
export function explainSyntax(
  thrown: unknown,
  argv: readonly string[],
  definitions: readonly Definition[],
): SvcError {
  const words = leadingWords(argv);
  const paths = definitions.map((one) => pathOf(one));
  // Of `auth` and `auth revoke` the longer one is meant.
  const matching = definitions
    .filter((one) => startsWith(words, pathOf(one)))
    .toSorted((a, b) => pathOf(b).length - pathOf(a).length)[0];
  if (matching === undefined) return unknownCommand(words, paths, argv);
  const name = pathOf(matching).join(' ');
  const wrong = unknownOption(argv, matching);
  const cure = `\`svc ${name} --help\` shows what it takes.`;
  if (wrong !== undefined) {
    const hint = didYouMean(wrong, optionNames(matching));
    return new SvcError('usage', `svc ${name} has no option ${wrong}${hint}`, { cure });
  }
  const amount = wrongAmount(thrown, argv, matching);
  const detail = amount === undefined ? `: ${reasonOf(thrown, argv)}` : ` ${amount}`;
  return new SvcError('usage', `svc ${name}${detail}`, { cure, cause: thrown });
}

/** Returns the words of a command: `config show` for `svc config show`. */
export function pathOf(definition: Definition): readonly string[] {
  const words = definition.path.split(' ').slice(1);
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
  return end < 0 ? words : words.slice(0, end);
}

/** Returns a command's arguments after its words: `<file>`, `[folder]`; empty if there are none. */
export function argumentsOf(definition: Definition): string {
  return definition.usage.slice(definition.path.length).trim();
}

/** Returns the names of a command's options, such as `--port` and `-n`. */
export function optionNames(definition: Definition): readonly string[] {
  return definition.options.flatMap((option) => namesOf(option.definition));
}

function namesOf(option: string): readonly string[] {
  return option.replace(/ #\d+$/, '').split(',');
}

/** Returns the name in `--name=value` or `--name`. */
function nameIn(arg: string): string {
  return arg.split('=', 1)[0] ?? arg;
}

function leadingWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((arg) => arg.startsWith('-'));
  return end < 0 ? argv : argv.slice(0, end);
}

function startsWith(words: readonly string[], path: readonly string[]): boolean {
  return path.length > 0 && path.every((word, index) => words[index] === word);
}

function unknownCommand(
  words: readonly string[],
  paths: readonly (readonly string[])[],
  argv: readonly string[],
): SvcError {
  const [first] = words;
  const cure = '`svc --help` lists the commands.';
  if (first === undefined)
    return new SvcError('usage', `svc ${argv.join(' ')} names no command`, { cure });
  const below = paths.filter((path) => path[0] === first);
  if (below.length > 0) {
    const subcommands = below.map((path) => path.slice(1).join(' '));
    const typed = words.slice(1).join(' ');
    if (typed === '') {
      return new SvcError('usage', `svc ${first} needs one of: ${subcommands.join(', ')}`, {
        cure: `\`svc ${first} --help\` shows what each does.`,
      });
    }
    const hint = didYouMean(words[1] ?? '', subcommands) || `; it has ${subcommands.join(', ')}`;
    return new SvcError('usage', `svc ${first} has no '${typed}'${hint}`, { cure });
  }
  const names = paths.map((path) => path[0] ?? '');
  const hint = didYouMean(first, names, (near) => `\`svc ${near}\``);
  return new SvcError('usage', `svc has no command '${first}'${hint}`, { cure });
}

function unknownOption(argv: readonly string[], definition: Definition): string | undefined {
  const known = new Set([...optionNames(definition), '-h', '--help', '--']);
  const end = argv.indexOf('--');
  return argv
    .slice(0, end < 0 ? undefined : end)
    .filter((arg) => /^--?[A-Za-z]/.test(arg))
    .map(nameIn)
    .find((name) => !known.has(name));
}

/** Describes a missing or superfluous argument, in the command's own terms. */
function wrongAmount(
  thrown: unknown,
  argv: readonly string[],
  definition: Definition,
): string | undefined {
  const reason = candidateReason(thrown);
  const takes = argumentsOf(definition);
  if (reason?.startsWith('Not enough positional arguments') === true) return `needs ${takes}`;
  const extra = /^Extraneous positional argument \((".*")\)/s.exec(reason ?? '')?.[1];
  if (extra !== undefined)
    return takes === '' ? `takes no argument, not ${extra}` : `takes ${takes} only, not ${extra}`;
  const missing = definition.options
    .filter((option) => option.required)
    .filter((option) => !argv.some((arg) => namesOf(option.definition).includes(nameIn(arg))))
    .map((option) => namesOf(option.definition).at(-1));
  return missing.length === 0 ? undefined : `needs ${missing.join(', ')}`;
}

function candidateReason(thrown: unknown): string | undefined {
  const candidates: readonly Candidate[] =
    thrown instanceof Error && 'candidates' in thrown && Array.isArray(thrown.candidates)
      ? (thrown.candidates as readonly Candidate[])
      : [];
  return candidates.find((one) => one.reason !== null)?.reason ?? undefined;
}

function reasonOf(thrown: unknown, argv: readonly string[]): string {
  const reason = candidateReason(thrown);
  const option = /^Not enough arguments to option (\S+?)\.?$/.exec(reason ?? '')?.[1];
  if (option !== undefined) {
    const next = argv[argv.indexOf(option) + 1];
    const why = next === undefined ? '' : `, and ${JSON.stringify(next)} begins like an option`;
    return `${option} needs a value${why}`;
  }
  const text = reason ?? (thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : '');
  const lowered = text.charAt(0).toLowerCase() + text.slice(1);
  return lowered === '' ? 'these arguments cannot be combined' : lowered.replace(/\.$/, '');
}
