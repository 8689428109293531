/**
 * The vault's speed: a made-up tree of 3,000 files, indexed cold and warm, as prose and as
 * code; queries against both backends; the time until a change is found. For scale: a scan
 * of the files themselves (ripgrep where there is one) and FTS5 with its own ranking.
 *
 * Run as `node dist/bench/vault.bench.js [files]`. Beside wall time stands processor time,
 * of all threads together, since wall time says little on a machine that others use.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { systemClock } from '../engine/clock.ts';
import {
  indexFolder,
  openVault,
  watchFolder,
  type BackendName,
  type IndexReport,
} from '../stages/vault/index.ts';
import { makeQueries, makeTree, type TreeKind } from './vault-tree.ts';

const SEED = 42;
const QUERIES = 300;
const WORKERS = 2;

const top = mkdtempSync(join(tmpdir(), 'svc-vault-bench-'));
const files = Number(process.argv[2] ?? 3_000);
const base = { clock: systemClock, newId: randomUUID };
let peakBytes = 0;
const sampler = setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 20);

try {
  const prose = await indexing('prose');
  await indexing('code');
  for (const backend of ['json_blocks', 'sqlite'] as const) await querying(prose.indexDir, backend);
  forScale(prose.root, prose.indexDir);
  await watching(prose);
  say('memory', `peak RSS ${(peakBytes / 1e6).toFixed(0)} MB in all of the above`);
} finally {
  clearInterval(sampler);
  rmSync(top, { recursive: true });
}

async function indexing(kind: TreeKind): Promise<{ root: string; indexDir: string }> {
  const root = join(top, kind);
  const indexDir = join(top, `${kind}-index`);
  const bytes = makeTree(root, files, kind, SEED);
  say(kind, `${files} files, ${(bytes / 1e6).toFixed(1)} MB`);
  const run = (): Promise<IndexReport> =>
    indexFolder({ ...base, root, indexDir, workers: WORKERS });
  const cold = await timed(run);
  say(`${kind} cold`, `${rate(files, cold.wallMs)}, ${cold.result.blocks} blocks, ${cost(cold)}`);
  const perSecond = (files / cold.cpuMs) * 1000 * WORKERS;
  say('', `= ${perSecond.toFixed(0)} files/s where two processors are free`);
  const warm = await timed(run);
  say(`${kind} warm`, `${warm.result.unchanged} unchanged, ${cost(warm)}`);
  return { root, indexDir };
}

async function querying(indexDir: string, backend: BackendName): Promise<void> {
  const vault = openVault({ ...base, indexDir, backend });
  let slowestStepMs = 0;
  let lastMs = performance.now();
  let loading = true;
  const beat = (): void => {
    const nowMs = performance.now();
    slowestStepMs = Math.max(slowestStepMs, nowMs - lastMs);
    lastMs = nowMs;
    if (loading) setImmediate(beat);
  };
  setImmediate(beat);
  const loaded = await timed(() => vault.status());
  loading = false;
  const step = `longest hold of the event loop ${slowestStepMs.toFixed(0)} ms`;
  say(`${backend} load`, `${loaded.result.blocks} blocks, ${cost(loaded)}, ${step}`);
  for (const query of makeQueries(20, SEED + 7)) await vault.search(query);
  const times: number[] = [];
  let hits = 0;
  for (const query of makeQueries(QUERIES, SEED)) {
    const startMs = performance.now();
    hits += (await vault.search(query, { top: 5 })).length;
    times.push(performance.now() - startMs);
  }
  say(`${backend} query`, `${percentiles(times)}, ${(hits / QUERIES).toFixed(1)} hits each`);
  await vault.close();
}

function forScale(root: string, indexDir: string): void {
  const queries = makeQueries(20, SEED);
  const hasRipgrep = spawnSync('rg', ['--version']).status === 0;
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(root, path));
  const scan = queries.map((query) => {
    const startMs = performance.now();
    const words = query.split(' ');
    if (hasRipgrep) spawnSync('rg', ['-c', '-F', ...words.flatMap((word) => ['-e', word]), root]);
    else paths.filter((path) => holdsAny(readFileSync(path, 'utf8'), words));
    return performance.now() - startMs;
  });
  say(hasRipgrep ? 'ripgrep' : 'plain scan', percentiles(scan));
  const database = new Database(':memory:');
  database.exec(`CREATE VIRTUAL TABLE bare USING fts5(text, tokenize='porter')`);
  const insert = database.prepare('INSERT INTO bare VALUES (?)');
  const log = readFileSync(join(indexDir, 'blocks.jsonl'), 'utf8').split('\n');
  database.transaction(() => {
    for (const line of log) if (line.startsWith('"')) insert.run(JSON.parse(line));
  })();
  const find = database.prepare(
    'SELECT rowid, bm25(bare) AS score FROM bare WHERE bare MATCH ? ORDER BY score LIMIT 5',
  );
  const times = makeQueries(QUERIES, SEED).map((query) => {
    const startMs = performance.now();
    find.all(
      query
        .split(' ')
        .map((word) => `"${word}"`)
        .join(' OR '),
    );
    return performance.now() - startMs;
  });
  say('FTS5 alone', percentiles(times));
  database.close();
}

async function watching({ root, indexDir }: { root: string; indexDir: string }): Promise<void> {
  const watch = await watchFolder({ ...base, root, indexDir, workers: 1 });
  const vault = openVault({ ...base, indexDir, backend: 'json_blocks' });
  await vault.status();
  const times: number[] = [];
  for (let round = 0; round < 8; round++) {
    const word = `needle${round}`;
    writeFileSync(join(root, `changed-${round}.md`), `A ${word} in a haystack\n`);
    const startMs = performance.now();
    while ((await vault.search(word)).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    times.push(performance.now() - startMs);
  }
  say('watch', `from write to hit: ${percentiles(times)}`);
  await vault.close();
  await watch.close();
}

function holdsAny(text: string, words: readonly string[]): boolean {
  return words.some((word) => text.includes(word));
}

interface Timed<T> {
  readonly result: T;
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const startMs = performance.now();
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}

function cost({ wallMs, cpuMs }: Timed<unknown>): string {
  return `${wallMs.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of processor)`;
}

function rate(count: number, wallMs: number): string {
  return `${((count / wallMs) * 1000).toFixed(0)} files/s`;
}

function percentiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

function say(what: string, figures: string): void {
  process.stdout.write(`${what.padEnd(18)}${figures}\n`);
}
