/**
 * Joins what tsc compiled into few files under `app`, beside it: the program that users
 * start. Node spends half a millisecond on every module of a start, and there are some 250.
 * All files lie flat in one folder, so that a thread's entry is found beside whoever starts it.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const compiled = fileURLToPath(new URL('..', import.meta.url));

const ENTRIES = [
  'cli/main.js',
  'stages/compress/compress-worker.js',
  'stages/ledger/reader-worker.js',
  'stages/ledger/writer-worker.js',
  'stages/vault/index-worker.js',
];

/** Packages that every start needs and that are JavaScript alone; the others stay where they are. */
const JOINED = new Set([
  'clipanion',
  'eventsource-parser',
  'fzstd',
  'lru-cache',
  'picocolors',
  'rotating-file-stream',
  'undici',
]);

function packagesApart(): string[] {
  const file = new URL('../../package.json', import.meta.url);
  const { dependencies } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return Object.keys(dependencies).filter((name) => !JOINED.has(name));
}

await build({
  entryPoints: ENTRIES.map((entry) => `${compiled}${entry}`),
  outdir: `${compiled}app`,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  keepNames: true,
  external: packagesApart(),
  // CommonJS packages ask for Node's own modules by `require`, which a module does not have.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  logLevel: 'warning',
});
