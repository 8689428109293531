/** The text of `--help`, generated from the commands' definitions. */
import type { Definition } from 'clipanion';
import type { CliContext } from '../context.ts';
import { exitMeanings } from '../exit.ts';
import { wrap } from '../screen/fit.ts';
import { colorsFor } from '../screen/output.ts';
import { argumentsOf, pathOf } from './syntax.ts';

/** Columns of the list of topics, without its indent. */
const TOPICS_WIDTH = 76;

/** The order of the sections in the overview; commands of other categories follow. */
const CATEGORIES = ['Run', 'Look', 'Save', 'Vault', 'Providers', 'Configure', 'Extend', 'Try'];

/** Names for an option's value, if the option's own name is not enough. */
const VALUE_NAMES: Readonly<Record<string, string>> = {
  '--config': 'file',
  '--folder': 'folder',
  '--settings': 'yaml',
  '--var': 'name=value',
  '--step': 'yaml',
  '--from': 'step',
  '--env-file': 'file',
  '--lines': 'count',
  '--requests': 'count',
  '--file': 'file',
  '--expires': 'duration',
  '--threshold': 'tokens',
  '--ask': 'question',
  '--show': 'block',
  '--as': 'tool:command',
  '--since': 'date',
  '--grace': 'duration',
  '--key-env': 'variable',
  '--node': 'name',
};

/** Output of `svc` alone: the commands that people need, grouped by purpose. */
const EVERYDAY: readonly (readonly [group: string, commands: readonly string[]])[] = [
  ['Begin', ['setup', 'demo', 'run', 'integrate']],
  ['Run', ['start', 'stop', 'status', 'doctor', 'logs']],
  ['See', ['dashboard', 'requests', 'savings', 'cost']],
  ['Change', ['config show', 'pause']],
];

/** Returns the everyday commands with one line each, and where to find the rest. */
export function everyday(definitions: readonly Definition[], context: CliContext): string[] {
  const { bold, dim } = colorsFor(context.stdout, context.env);
  const width = Math.max(...EVERYDAY.flatMap(([, names]) => names.map((name) => name.length)));
  const lines = titleLines(context);
  for (const [group, names] of EVERYDAY) {
    lines.push('', bold(group));
    for (const name of names) {
      const one = definitions.find((each) => nameOf(each) === name);
      lines.push(`  ${name.padEnd(width)}  ${dim(plain(one?.description))}`);
    }
  }
  lines.push(
    '',
    `\`svc help all\` lists all ${definitions.length} commands, the exit codes and the topics.`,
    '`svc help <command>` shows its options and examples.',
  );
  return lines;
}

function titleLines(context: CliContext): string[] {
  const { bold, dim } = colorsFor(context.stdout, context.env);
  return [
    `${bold('svc')} ${context.version}: a local proxy between your tools and language models`,
    '',
    `  ${dim('$')} ${context.program} <command> [options]`,
  ];
}

/**
 * Returns every command with one line each, by category, the exit codes, and the names of the
 * topics.
 */
export function overview(
  definitions: readonly Definition[],
  topics: readonly string[],
  context: CliContext,
): string[] {
  const colors = colorsFor(context.stdout, context.env);
  const lines = titleLines(context);
  const width = Math.max(...definitions.map((one) => nameOf(one).length));
  for (const category of categories(definitions)) {
    lines.push('', colors.bold(category));
    for (const one of definitions.filter((each) => categoryOf(each) === category)) {
      lines.push(`  ${nameOf(one).padEnd(width)}  ${colors.dim(plain(one.description))}`);
    }
  }
  lines.push('', colors.bold('Exit codes'));
  for (const [code, meaning] of exitMeanings) {
    lines.push(`  ${String(code).padEnd(width)}  ${colors.dim(meaning)}`);
  }
  lines.push('', colors.bold('Topics'));
  // Wrapped here: automatic folding would continue at the left edge.
  for (const line of wrap(topics.join(', '), TOPICS_WIDTH)) lines.push(`  ${colors.dim(line)}`);
  lines.push(
    '',
    '`svc <command> --help` shows options and examples,',
    '`svc help <topic>` explains a topic.',
  );
  return lines;
}

/** Returns the commands in Markdown: one table per category, then the exit codes. */
export function commandTables(definitions: readonly Definition[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const tables = categories(definitions).map((category) => {
    const rows = definitions
      .filter((one) => categoryOf(one) === category)
      .map((one) => {
        const typed = `svc ${nameOf(one)} ${argumentsOf(one)}`.trim();
        return `| \`${cell(typed)}\` | ${cell(plain(one.description))} |`;
      });
    return [`## ${category}`, '', '| Command | What it does |', '|---|---|', ...rows].join('\n');
  });
  const codes = exitMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  const exits = ['## Exit codes', '', '| Code | Meaning |', '|---|---|', ...codes].join('\n');
  return [...tables, exits].join('\n\n');
}

/**
 * Returns the help of the command named by `words` and of all below it; undefined if there is none.
 */
export function commandHelp(
  words: readonly string[],
  definitions: readonly Definition[],
  context: CliContext,
): string[] | undefined {
  const below = definitions.filter((one) => isPrefix(words, pathOf(one)));
  const above = definitions.filter((one) => isPrefix(pathOf(one), words));
  const longest = Math.max(...above.map((one) => pathOf(one).length));
  const found = below.length > 0 ? below : above.filter((one) => pathOf(one).length === longest);
  if (found.length === 0) return undefined;
  return found.flatMap((one, index) => [...(index > 0 ? [''] : []), ...oneCommand(one, context)]);
}

function oneCommand(definition: Definition, context: CliContext): string[] {
  const colors = colorsFor(context.stdout, context.env);
  const heading = colors.bold(`svc ${nameOf(definition)}`);
  const lines = [
    `${heading}: ${plain(definition.description)}`,
    '',
    usageLine(definition, context),
  ];
  if (definition.details !== undefined) lines.push('', ...definition.details.trimEnd().split('\n'));
  if (definition.options.length > 0) {
    const options = definition.options.map(
      (option) => [withValueName(option.definition), plain(option.description)] as const,
    );
    const width = Math.max(...options.map(([name]) => name.length));
    lines.push('', colors.bold('Options'));
    for (const [name, description] of options)
      lines.push(`  ${name.padEnd(width)}  ${colors.dim(description)}`);
  }
  lines.push('', colors.bold('Examples'));
  for (const [label, command] of definition.examples ?? [])
    lines.push(
      `  ${colors.dim(`# ${plain(label)}`)}`,
      `  ${command.replace(/^svc\b/, context.program)}`,
    );
  return lines;
}

/** Returns the usage line: required options are named, all others are "[options]". */
function usageLine(definition: Definition, context: CliContext): string {
  const { options } = definition;
  const parts = [
    context.program,
    nameOf(definition),
    ...options.filter((one) => one.required).map((one) => withValueName(one.definition)),
    argumentsOf(definition),
    options.some((one) => !one.required) ? '[options]' : '',
  ];
  return `  ${colorsFor(context.stdout, context.env).dim('$')} ${parts.filter((part) => part !== '').join(' ')}`;
}

function withValueName(definition: string): string {
  if (!/ #\d+$/.test(definition)) return definition.replace(',', ', ');
  const names = definition.replace(/ #\d+$/, '');
  const long = names.split(',').at(-1) ?? names;
  return `${names.replace(',', ', ')} <${VALUE_NAMES[long] ?? long.replace(/^--/, '')}>`;
}

/** Returns the words of the command. */
function nameOf(definition: Definition): string {
  return definition.path.split(' ').slice(1).join(' ');
}

function categories(definitions: readonly Definition[]): readonly string[] {
  const found = [...new Set(definitions.map(categoryOf))];
  const rank = (name: string) => {
    const index = CATEGORIES.indexOf(name);
    return index < 0 ? CATEGORIES.length : index;
  };
  return found.toSorted((a, b) => rank(a) - rank(b));
}

function categoryOf(definition: Definition): string {
  return plain(definition.category) || 'More';
}

function plain(text: string | undefined): string {
  return (text ?? '').trim();
}

function isPrefix(path: readonly string[], words: readonly string[]): boolean {
  return path.every((word, index) => words[index] === word);
}
