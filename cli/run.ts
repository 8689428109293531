/** Runs one command line: finds the command, runs it, and returns the exit code. */
import { Cli } from 'clipanion';
import { SvcError, isSvcError } from '../engine/error.ts';
import { didYouMean } from '../server/config/did-you-mean.ts';
import { isDiskFault, reasonOf } from '../stages/disk-reason.ts';
import type { CliContext } from './context.ts';
import { exitCodes } from './exit.ts';
import { commandHelp, everyday, overview } from './parse/help.ts';
import { print, printError, writeLine } from './screen/output.ts';
import { isFirstWord, loadCommands } from './parse/registry.ts';
import { explainSyntax, pathOf } from './parse/syntax.ts';
import { printTopic, readTopics } from './parse/topics.ts';

/** `svc help all` lists every command. */
const ALL = 'all';

/** Runs `typed` (without node and script). Resolves with the exit code; never rejects. */
export async function runCli(typed: readonly string[], context: CliContext): Promise<number> {
  const argv = withHome(typed, context.userHome);
  try {
    return await dispatch(argv, context);
  } catch (thrown) {
    const error = isSvcError(thrown) ? thrown : unexpected(thrown);
    printError(context, error);
    if (!isSvcError(thrown) && wantsDetails(argv, context) && thrown instanceof Error)
      for (const line of (thrown.stack ?? '').split('\n')) writeLine(context.stderr, line);
    return exitCodes[error.kind];
  }
}

async function dispatch(argv: readonly string[], context: CliContext): Promise<number> {
  const [word] = argv;
  if (word === '--version' || word === '-V' || word === '-v') {
    context.stdout.write(`${context.version}\n`);
    return 0;
  }
  if (word === undefined || word === 'help' || asksForHelp(argv)) {
    return word === 'help' ? help(argv.slice(1), context, true) : help(argv, context, false);
  }
  if (!isFirstWord(word)) throw explainSyntax(undefined, argv, await context.definitions());
  const cli = new Cli<CliContext>({ binaryName: 'svc', binaryVersion: context.version });
  for (const command of await loadCommands(word)) cli.register(command);
  let command;
  try {
    command = cli.process([...argv], context);
  } catch (thrown) {
    throw explainSyntax(thrown, argv, cli.definitions());
  }
  return command.validateAndExecute();
}

function asksForHelp(argv: readonly string[]): boolean {
  return ownPart(argv).some((arg) => arg === '--help' || arg === '-h');
}

/**
 * Returns the arguments for svc itself: without those after `--` and those after the client of `svc
 * run`.
 */
function ownPart(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex(
    (arg, index) => arg === '--' || (index > 0 && argv[0] === 'run' && !arg.startsWith('-')),
  );
  return argv.slice(0, end < 0 ? undefined : end);
}

/** Most shells read `~` after a space as the home folder, and after `=` as any other character. */
function withHome(argv: readonly string[], userHome: string): readonly string[] {
  const own = ownPart(argv).map((arg) =>
    arg.replace(/^(--[a-z][a-z-]{0,30}=)~(?=\/|$)/, (_all, option: string) => option + userHome),
  );
  return [...own, ...argv.slice(own.length)];
}

/**
 * Prints the help of a command, or a topic. For a word that names both, `isTopicWanted` prints the
 * command and below it the topic's page.
 */
async function help(
  argv: readonly string[],
  context: CliContext,
  isTopicWanted: boolean,
): Promise<number> {
  const words = argv.filter((arg) => !arg.startsWith('-'));
  const definitions = await context.definitions();
  const topics = readTopics();
  const names = topics.map(({ name }) => name);
  const [word = ''] = words;
  const isAll = isTopicWanted && words.length === 1 && word === ALL;
  const text = isAll
    ? overview(definitions, names, context)
    : words.length === 0
      ? everyday(definitions, context)
      : commandHelp(words, definitions, context);
  const topic = words.length === 1 ? topics.find(({ name }) => name === word) : undefined;
  for (const line of text ?? []) print(context, line);
  if (topic !== undefined && (isTopicWanted || text === undefined)) {
    if (text !== undefined) print(context);
    await printTopic(topic, context);
  } else if (text === undefined) {
    if (words.length > 1) throw explainSyntax(undefined, words, definitions);
    throw noHelp(word, [...definitions.map((one) => pathOf(one)[0] ?? ''), ...names]);
  }
  return 0;
}

function noHelp(word: string, names: readonly string[]): SvcError {
  const hint = didYouMean(word, names, (near) => `\`svc help ${near}\``);
  return new SvcError('usage', `svc has no command '${word}' and no topic of that name${hint}`, {
    cure: '`svc help all` lists both.',
  });
}

function unexpected(thrown: unknown): SvcError {
  if (isDiskFault(thrown)) {
    const where = thrown.path ?? 'the disk';
    return new SvcError('config', `Cannot use ${where}: ${reasonOf(thrown)}`, { cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new SvcError('internal', `svc failed: ${message}`, {
    cause: thrown,
    cure: 'This is a bug in svc; --debug or SVC_DEBUG=1 shows more.',
  });
}

function wantsDetails(argv: readonly string[], context: CliContext): boolean {
  return ownPart(argv).includes('--debug') || context.env['SVC_DEBUG'] === '1';
}
