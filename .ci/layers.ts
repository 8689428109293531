/**
 * The import rule of the house: engine → stages → plugins → server → cli, each
 * importing only to its left; in `stages` no verb imports a verb and no noun a
 * noun. No file has a name that says nothing. Prints every breach and exits with 1 if there is one.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LAYERS = ['engine', 'stages', 'plugins', 'server', 'cli'];
const SHARED = ['model', 'wire', 'dialect'];
const VERBS = [
  'parse',
  'protect',
  'compress',
  'inject',
  'route',
  'lookup',
  'spend',
  'forward',
  'keep',
  'split',
  'meter',
  'trace',
];
const NOUNS = [
  'providers',
  'vault',
  'ledger',
  'answers',
  'captures',
  'audit',
  'decisions',
  'budget',
  'lost',
  'learned',
];
/** Verbs and nouns meet only here. */
const MEETING = new Set(['stages/graph.ts', 'stages/services.ts', 'stages/index.ts']);
/** `bench` is the benchmark command's alone, and `fixtures` also the demo's. */
const MAY_USE_BENCH = new Set(['cli/commands/benchmark.ts']);
const MAY_USE_FIXTURES = new Set(['cli/commands/demo.ts', 'cli/commands/benchmark.ts']);

const EMPTY_NAMES = /(?:^|\/)(?:utils?|helpers?|common|misc|manager)(?:\.ts|\/)/;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)\s*import\s+'([^']+)'/g;

interface Import {
  readonly from: string;
  readonly to: string;
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT)]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    .map((to) => ({ from: file, to: to.startsWith('.') ? join(dirname(file), to) : to }));
}

const isTest = (file: string): boolean =>
  /\.(?:full\.)?test\.ts$|\.corpus\.ts$|(?:^|[-/])testing\.ts$/.test(file);

function breachOf({ from, to }: Import): string | undefined {
  const [fromLayer = '', fromPart = ''] = from.split('/');
  const [toLayer = '', toPart = ''] = to.split('/');
  const isOwn = LAYERS.includes(toLayer) || toLayer === 'fixtures' || toLayer === 'bench';
  if (!isOwn) {
    if (fromLayer === 'engine' && !to.startsWith('node:') && !isTest(from))
      return 'engine has no dependency';
    return undefined;
  }
  if (fromLayer === 'bench' || fromLayer === 'fixtures' || isTest(from)) return undefined;
  if (toLayer === 'bench')
    return MAY_USE_BENCH.has(from) ? undefined : 'only the benchmark command uses bench';
  if (toLayer === 'fixtures')
    return MAY_USE_FIXTURES.has(from) ? undefined : 'fixtures are for tests, bench and demo';
  if (LAYERS.indexOf(toLayer) > LAYERS.indexOf(fromLayer))
    return `${fromLayer} may not import ${toLayer}`;
  if (from.startsWith('server/client/') && !to.startsWith('server/client/'))
    return 'the client adapters import no server internals';
  return fromLayer === 'stages' && toLayer === 'stages'
    ? stageBreach(from, fromPart, toPart)
    : undefined;
}

function stageBreach(from: string, fromPart: string, toPart: string): string | undefined {
  if (MEETING.has(from) || fromPart === toPart) return undefined;
  if (VERBS.includes(fromPart) && VERBS.includes(toPart))
    return `verb ${fromPart} imports verb ${toPart}`;
  if (NOUNS.includes(fromPart) && NOUNS.includes(toPart))
    return `noun ${fromPart} imports noun ${toPart}`;
  if (SHARED.includes(fromPart) && (VERBS.includes(toPart) || NOUNS.includes(toPart)))
    return `${fromPart} is below ${toPart}`;
  if (NOUNS.includes(fromPart) && VERBS.includes(toPart))
    return `noun ${fromPart} imports verb ${toPart}`;
  return undefined;
}

/** A folder of `stages` that no list names would escape the rule. */
function unnamedParts(files: readonly string[]): string[] {
  const named = new Set([...SHARED, ...VERBS, ...NOUNS]);
  const parts = files
    .filter((file) => file.startsWith('stages/') && file.split('/').length > 2)
    .map((file) => file.split('/')[1]!);
  return [...new Set(parts)].filter((part) => !named.has(part));
}

const files = [...LAYERS, 'fixtures', 'bench'].flatMap(sources);
const breaches = files.flatMap(importsOf).flatMap((each) => {
  const breach = breachOf(each);
  return breach === undefined ? [] : [`${each.from} → ${each.to}: ${breach}`];
});
breaches.push(
  ...unnamedParts(files).map(
    (part) => `stages/${part} is neither verb nor noun: name it in .ci/layers.ts`,
  ),
);
breaches.push(
  ...files
    .filter((file) => EMPTY_NAMES.test(file))
    .map((file) => `${file}: a name that says nothing`),
);
for (const breach of breaches) process.stdout.write(`${breach}\n`);
process.stdout.write(`layers: ${files.length} files, ${breaches.length} breaches\n`);
process.exitCode = breaches.length === 0 ? 0 : 1;
