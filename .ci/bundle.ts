/**
 * Bundles the compiled modules into a few files under `app`, the program that users start. Node
 * spends half a millisecond on every module at startup, and there are about 250. All files are in
 * one flat folder, so that a thread's entry is next to the file that starts it.
 */
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { DEFINITIONS_FILE, loadDefinitions } from '../cli/parse/definitions.ts';
import { STATUSLINE_FILE } from '../cli/integrate/statusline.ts';
import { TOPICS_FILE } from '../cli/parse/topics.ts';
import { GUIDES_FILE } from '../server/docs/guide.ts';
import { keepOutUnneeded } from './declarations.ts';
import { indexGuides, renderGuides } from './guides.ts';
import { BUNDLED_FILE } from '../server/bundled-recipes.ts';
import { readRecipes } from '../server/recipes/recipes.ts';
import { stripComments } from './strip.ts';
import { readTopics } from './topics.ts';

const compiled = fileURLToPath(new URL('..', import.meta.url));

const ENTRIES = [
  'cli/main.js',
  'stages/captures/capture-worker.js',
  'stages/compress/worker/compress-worker.js',
  'stages/ledger/postgres/postgres-worker.js',
  'stages/ledger/sqlite/reader-worker.js',
  'stages/ledger/sqlite/writer-worker.js',
  'stages/vault/read/index-worker.js',
  // The same program for the benchmarks' command, so that they measure what users start.
  'bench/svc-proxy.js',
];

/** Pure JavaScript packages that every start needs; all others stay separate. */
const BUNDLED_PACKAGES = new Set([
  'clipanion',
  'eventsource-parser',
  'fzstd',
  'kysely',
  'lru-cache',
  'picocolors',
  'rotating-file-stream',
  'undici',
]);

function packagesApart(): string[] {
  const file = new URL('../../package.json', import.meta.url);
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  return Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !BUNDLED_PACKAGES.has(name),
  );
}

/** A proxy started from an earlier build may still load its own files for this long. */
const KEPT_DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;

/** Search index of the documentation. */
const INDEX_FILE = 'docs-index.json';

/** Files of `app` that are not bundled. */
const GENERATED_FILES: ReadonlySet<string> = new Set([
  DEFINITIONS_FILE,
  GUIDES_FILE,
  INDEX_FILE,
  TOPICS_FILE,
  'statusline',
]);

/**
 * Deletes leftovers of earlier builds unless they may be in use; those are excluded from the
 * package.
 */
function prune(folder: string, outputs: readonly string[]): void {
  const current = new Set(outputs.map((path) => basename(path)));
  const left = readdirSync(folder).filter(
    (name) => !current.has(name) && !GENERATED_FILES.has(name),
  );
  const isOld = (name: string) =>
    Date.now() - statSync(join(folder, name)).mtimeMs > KEPT_DAYS * DAY_MS;
  for (const name of left.filter(isOld)) rmSync(join(folder, name));
  writeFileSync(join(folder, '.npmignore'), left.map((name) => `/${name}\n`).join(''));
}

/** Options shared by all bundles. */
const COMMON_OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Less to read at startup, and a smaller package; names are kept for error reports.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  logLevel: 'warning',
} as const;

await stripComments(compiled);
keepOutUnneeded(fileURLToPath(new URL('../..', import.meta.url)), compiled);

/**
 * The statusline starts after every message, so it is one file of its own, not a dozen shared ones.
 */
const STANDALONE_ENTRY = 'statusline/fast.js';
await build({
  ...COMMON_OPTIONS,
  entryPoints: [`${compiled}cli/${STANDALONE_ENTRY}`],
  outfile: `${compiled}app/${STANDALONE_ENTRY}`,
});
await build({
  ...COMMON_OPTIONS,
  format: 'cjs',
  entryPoints: [`${compiled}cli/statusline/start.js`],
  outfile: `${compiled}app/${STATUSLINE_FILE}`,
  external: ['../main.js'],
});

const { metafile } = await build({
  ...COMMON_OPTIONS,
  entryPoints: ENTRIES.map((entry) => `${compiled}${entry}`),
  outdir: `${compiled}app`,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  splitting: true,
  external: [...packagesApart(), `./${STANDALONE_ENTRY}`],
  // CommonJS packages load Node's modules by `require`, which does not exist in a module.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  metafile: true,
});
writeFileSync(`${compiled}app/${DEFINITIONS_FILE}`, JSON.stringify(await loadDefinitions()));

const guides = renderGuides();
writeFileSync(join(compiled, 'app', GUIDES_FILE), JSON.stringify(guides));
writeFileSync(join(compiled, 'app', INDEX_FILE), JSON.stringify(indexGuides(guides)));
/** The bundled recipes as read at startup: validated, and without their examples. */
const recipes = await readRecipes([
  fileURLToPath(new URL('../../plugins/recipes', import.meta.url)),
]);
writeFileSync(join(compiled, 'app', BUNDLED_FILE), JSON.stringify(recipes));

const topics = JSON.stringify(readTopics());
for (const folder of ['app', 'cli/parse'])
  writeFileSync(join(compiled, folder, TOPICS_FILE), topics);

/** Limit for the compressed size of the dashboard's script and style together. */
const PAGE_MAX_BYTES = 150 * 1024;

/**
 * Bundles what browsers load: the dashboard's script and style, and the script of the
 * documentation.
 */
async function bundlePages(): Promise<string[]> {
  const page = await build({
    entryPoints: {
      'dashboard-page': `${compiled}server/dashboard/page/main.js`,
      'docs-page': `${compiled}server/docs/page/main.js`,
      'dashboard-style': fileURLToPath(
        new URL('../../server/dashboard/page/style.css', import.meta.url),
      ),
    },
    outdir: `${compiled}app`,
    entryNames: '[name]',
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'warning',
    metafile: true,
  });
  const outputs = Object.keys(page.metafile.outputs).map((path) => basename(path));
  let sizeBytes = 0;
  for (const name of outputs.filter((one) => one.startsWith('dashboard-'))) {
    const bytes = readFileSync(join(`${compiled}app`, name));
    sizeBytes += gzipSync(bytes).length;
  }
  if (sizeBytes > PAGE_MAX_BYTES)
    throw new Error(`the dashboard has ${sizeBytes} bytes compressed, over ${PAGE_MAX_BYTES}`);
  return outputs;
}

prune(`${compiled}app`, [...Object.keys(metafile.outputs), ...(await bundlePages())]);
