/**
 * The import rules: engine → stages → plugins → server → cli, each importing only to its left; in
 * `stages` no verb imports a verb and no noun a noun, and the folders that both build on have an
 * order of their own. Code shared by tests is in `fixtures`, which only tests, benchmarks and the
 * demo import. No file has a meaningless name, and there are no import cycles, including those
 * through types, lazy imports, tests and benchmarks. Prints every violation and exits with 1 if
 * there is one.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const LAYERS = ['engine', 'stages', 'plugins', 'server', 'cli'];
/** The folders that verbs and nouns build on, each importing only to its left as well. */
const SHARED_FOLDERS = ['threads', 'model', 'wire', 'dialect', 'settings'];
const VERBS = [
  'parse',
  'template',
  'protect',
  'recipes',
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
  'conversations',
  'budget',
  'originals',
  'learned',
  'limits',
  'prompt-cache',
  'templates',
  'macros',
];
/** Only these files may import both verbs and nouns. */
const MAY_USE_VERBS_AND_NOUNS = new Set([
  'stages/graph.ts',
  'stages/services.ts',
  'stages/index.ts',
]);
/**
 * `bench` is the benchmark command's alone, and `fixtures` also that of the demo and of what setup
 * proves.
 */
const MAY_USE_BENCH = new Set(['cli/commands/benchmark.ts']);
const MAY_USE_FIXTURES = new Set([
  'cli/process/loopback.ts',
  'cli/certify/demo.ts',
  'cli/commands/benchmark.ts',
  'cli/plugin/bench.ts',
]);

/** Code that runs in the browser. */
const PAGE = 'server/dashboard/page/';
/** Types of the data sent to the page, and functions without dependencies on their environment. */
const PAGE_MAY_USE = new Set([
  'server/dashboard/contract.ts',
  'server/log/visible.ts',
  'server/words/amounts.ts',
  'server/words/counted.ts',
  'server/words/problems.ts',
  'server/words/span.ts',
  'server/words/time-of-day.ts',
  'server/words/miss-words.ts',
]);

const MEANINGLESS_NAMES = /(?:^|\/)(?:utils?|helpers?|common|misc|manager)(?:\.tsx?|\/)/;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)\s*import\s+'([^']+)'/g;

interface Import {
  readonly from: string;
  readonly to: string;
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT)]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    .map((to) => ({ from: file, to: to.startsWith('.') ? join(dirname(file), to) : to }));
}

const SUPPORT = /(?:^|[-/])testing\.ts$/;
const isTest = (file: string): boolean => file.endsWith('.test.ts') || SUPPORT.test(file);

function violationOf({ from, to }: Import): string | undefined {
  const [fromLayer = '', fromPart = ''] = from.split('/');
  const [toLayer = '', toPart = ''] = to.split('/');
  const isOwn = LAYERS.includes(toLayer) || toLayer === 'fixtures' || toLayer === 'bench';
  if (!isOwn) {
    if (fromLayer === 'engine' && !to.startsWith('node:') && !isTest(from))
      return 'engine has no dependency';
    return undefined;
  }
  if (fromLayer === 'bench' || fromLayer === 'fixtures' || isTest(from)) return undefined;
  if (isTest(to)) return 'only tests import tests';
  if (toLayer === 'bench')
    return MAY_USE_BENCH.has(from) ? undefined : 'only the benchmark command uses bench';
  if (toLayer === 'fixtures')
    return MAY_USE_FIXTURES.has(from) ? undefined : 'fixtures are for tests, bench and demo';
  if (LAYERS.indexOf(toLayer) > LAYERS.indexOf(fromLayer))
    return `${fromLayer} may not import ${toLayer}`;
  if (from.startsWith('server/client/') && !to.startsWith('server/client/'))
    return 'the client adapters import no server internals';
  if (from.startsWith(PAGE) && !to.startsWith(PAGE) && !PAGE_MAY_USE.has(to))
    return `the page runs in a browser and imports of ours only its folder and ${[...PAGE_MAY_USE].join(', ')}`;
  return fromLayer === 'stages' && toLayer === 'stages'
    ? stageViolation(from, fromPart, toPart)
    : undefined;
}

function stageViolation(from: string, fromPart: string, toPart: string): string | undefined {
  if (MAY_USE_VERBS_AND_NOUNS.has(from) || fromPart === toPart) return undefined;
  if (VERBS.includes(fromPart) && VERBS.includes(toPart))
    return `verb ${fromPart} imports verb ${toPart}`;
  if (NOUNS.includes(fromPart) && NOUNS.includes(toPart))
    return `noun ${fromPart} imports noun ${toPart}`;
  const isUser = VERBS.includes(toPart) || NOUNS.includes(toPart);
  if (
    SHARED_FOLDERS.includes(fromPart) &&
    (isUser || SHARED_FOLDERS.indexOf(toPart) > SHARED_FOLDERS.indexOf(fromPart))
  )
    return `${fromPart} is below ${toPart}`;
  if (NOUNS.includes(fromPart) && VERBS.includes(toPart))
    return `noun ${fromPart} imports verb ${toPart}`;
  return undefined;
}

/** Returns folders of `stages` that no list names, which would escape the rules. */
function unnamedParts(files: readonly string[]): string[] {
  const named = new Set([...SHARED_FOLDERS, ...VERBS, ...NOUNS]);
  const parts = files
    .filter((file) => file.startsWith('stages/') && file.split('/').length > 2)
    .map((file) => file.split('/')[1]!);
  return [...new Set(parts)].filter((part) => !named.has(part));
}

/** Returns support files next to one test that several files import. */
function sharedSupport(imports: readonly Import[]): string[] {
  const users = imports.filter(({ to }) => SUPPORT.test(to));
  const shared = new Set(
    users
      .filter(({ from, to }) => users.some((one) => one.to === to && one.from !== from))
      .map(({ to }) => to),
  );
  return [...shared].map((file) => `${file}: several files use it: move it into fixtures`);
}

/** Returns each import cycle (Tarjan's strongly connected components), sorted. */
function importCycles(all: readonly string[]): string[][] {
  const known = new Set(all);
  const edges = new Map(
    all.map((file) => {
      const targets = importsOf(file).map(({ to }) => to);
      return [file, targets.filter((to) => to !== file && known.has(to))] as const;
    }),
  );
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const to of edges.get(file) ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(file, Math.min(low.get(file)!, low.get(to)!));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) cycles.push(group.toSorted((a, b) => (a < b ? -1 : 1)));
  };
  for (const file of all) if (!index.has(file)) visit(file);
  return cycles;
}

const files = [...LAYERS, 'fixtures', 'bench'].flatMap(sources);
const imports = files.flatMap(importsOf);
const violations = imports.flatMap((each) => {
  const violation = violationOf(each);
  return violation === undefined ? [] : [`${each.from} → ${each.to}: ${violation}`];
});
violations.push(...sharedSupport(imports));
violations.push(
  ...unnamedParts(files).map(
    (part) => `stages/${part} is neither verb nor noun: name it in .ci/layers.ts`,
  ),
);
violations.push(
  ...files
    .filter((file) => MEANINGLESS_NAMES.test(file))
    .map((file) => `${file}: a name that says nothing`),
);
violations.push(...importCycles(files).map((cycle) => `import cycle: ${cycle.join(', ')}`));
for (const violation of violations) process.stdout.write(`${violation}\n`);
process.stdout.write(`layers: ${files.length} files, ${violations.length} violations\n`);
process.exitCode = violations.length === 0 ? 0 : 1;
