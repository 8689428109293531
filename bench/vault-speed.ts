/**
 * Measures the vault's speed: a generated tree of files, indexed cold and warm, as prose and as
 * code; queries against both backends; the time until a change is found. For comparison: a scan of
 * the files themselves (with ripgrep if installed) and FTS5 with its own ranking. Reports wall time
 * and the processor time of all threads, since wall time says little on a shared machine.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../stages/sqlite.ts';
import { systemClock } from '../engine/clock.ts';
import { BACKENDS } from '../stages/vault/backends/block-index.ts';
import { indexFolder } from '../stages/vault/indexing/indexer.ts';
import { openVault } from '../stages/vault/vault.ts';
import { watchFolder } from '../stages/vault/indexing/watch.ts';
import type { BackendName } from '../stages/vault/backends/block-index.ts';
import type { IndexReport } from '../stages/vault/indexing/index-run.ts';
import { quantiles } from './figures.ts';
import { makeQueries, makeTree, type TreeKind } from './vault-tree.ts';

/** Half of the queries are of typical length, half of the maximum length. */
export type QueryLength = 'short' | 'long';

/** One tree, indexed. */
export interface IndexingRun {
  readonly kind: TreeKind;
  readonly blocks: number;
  readonly filesPerSecond: number;
  /** For an unchanged index. */
  readonly unchangedSeconds: number;
}

/** Queries of one length against one backend, in milliseconds. */
export interface QueryRun {
  readonly backend: BackendName;
  readonly length: QueryLength;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** All measurements; `lines` are additional text. */
export interface VaultRun {
  readonly indexing: readonly IndexingRun[];
  readonly queries: readonly QueryRun[];
  /** Slowest time from writing a file until it is found. */
  readonly watchSeconds: number;
  readonly lines: readonly string[];
}

const SEED = 42;
const WORKERS = 2;
const TERMS = { short: [3, 12], long: [32, 32] } as const satisfies Record<QueryLength, unknown>;
/**
 * A file written less than two seconds before indexing is read again the next time, since its time
 * stamp proves nothing: the second run would then not be one without changes.
 */
const SETTLE_MS = 2_100;
const base = { clock: systemClock, newId: randomUUID };

/**
 * Measures with trees of `files` files and `queries` queries of each length; 3,000 and 300 take
 * about a minute.
 */
export async function measureVault(
  files: number,
  queries: number,
  onProgress: (text: string) => void,
): Promise<VaultRun> {
  const top = mkdtempSync(join(tmpdir(), 'svc-vault-bench-'));
  const lines: string[] = [];
  const addLine: AddLine = (what, figures) => void lines.push(`  ${what.padEnd(18)}${figures}`);
  try {
    onProgress('vault: prose');
    const prose = await measureIndexing(top, files, 'prose', addLine);
    onProgress('vault: code');
    const code = await measureIndexing(top, files, 'code', addLine);
    const runs: QueryRun[] = [];
    for (const backend of BACKENDS) {
      onProgress(`vault: queries, ${backend}`);
      runs.push(...(await measureQueries(prose.indexDir, backend, queries, addLine)));
    }
    measureBaselines(prose.root, prose.indexDir, queries, addLine);
    onProgress('vault: watching');
    const watchSeconds = await measureWatching(prose, addLine);
    return { indexing: [prose.run, code.run], queries: runs, watchSeconds, lines };
  } finally {
    rmSync(top, { recursive: true });
  }
}

type AddLine = (what: string, figures: string) => void;

async function measureIndexing(
  top: string,
  files: number,
  kind: TreeKind,
  addLine: AddLine,
): Promise<{ root: string; indexDir: string; run: IndexingRun }> {
  const root = join(top, kind);
  const indexDir = join(top, `${kind}-index`);
  const bytes = makeTree(root, files, kind, SEED);
  addLine(kind, `${files} files, ${(bytes / 1e6).toFixed(1)} MB`);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const index = (): Promise<IndexReport> =>
    indexFolder({ ...base, root, indexDir, workers: WORKERS });
  const cold = await timed(index);
  const { blocks } = cold.result;
  const filesPerSecond = (files / cold.wallMs) * 1000;
  addLine(`${kind} cold`, `${filesPerSecond.toFixed(0)} files/s, ${blocks} blocks, ${cost(cold)}`);
  const perSecond = (files / cold.cpuMs) * 1000 * WORKERS;
  addLine('', `= ${perSecond.toFixed(0)} files/s where two processors are free`);
  const warm = await timed(index);
  addLine(`${kind} warm`, `${warm.result.unchanged} unchanged, ${cost(warm)}`);
  const run = { kind, blocks, filesPerSecond, unchangedSeconds: warm.wallMs / 1000 };
  return { root, indexDir, run };
}

async function measureQueries(
  indexDir: string,
  backend: BackendName,
  queries: number,
  addLine: AddLine,
): Promise<QueryRun[]> {
  const vault = openVault({ ...base, indexDir, backend });
  let slowestStepMs = 0;
  let lastMs = performance.now();
  let loading = true;
  const measureStep = (): void => {
    const nowMs = performance.now();
    slowestStepMs = Math.max(slowestStepMs, nowMs - lastMs);
    lastMs = nowMs;
    if (loading) setImmediate(measureStep);
  };
  setImmediate(measureStep);
  const loaded = await timed(() => vault.status());
  loading = false;
  const step = `event loop blocked for up to ${slowestStepMs.toFixed(0)} ms`;
  addLine(`${backend} load`, `${loaded.result.blocks} blocks, ${cost(loaded)}, ${step}`);
  for (const query of makeQueries(20, SEED + 7)) await vault.search(query);
  const runs: QueryRun[] = [];
  for (const length of ['short', 'long'] as const) {
    const times: number[] = [];
    let hits = 0;
    for (const query of makeQueries(queries, SEED, TERMS[length])) {
      const startMs = performance.now();
      hits += (await vault.search(query, { top: 5 })).length;
      times.push(performance.now() - startMs);
    }
    const { p50, p99 } = quantiles(times);
    runs.push({ backend, length, p50Ms: p50, p99Ms: p99 });
    const each = `${(hits / queries).toFixed(1)} hits each`;
    addLine(
      backend,
      `${[...new Set(TERMS[length])].join('–')} terms: ${percentiles(times)}, ${each}`,
    );
  }
  await vault.close();
  return runs;
}

function measureBaselines(root: string, indexDir: string, count: number, addLine: AddLine): void {
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
  addLine(hasRipgrep ? 'ripgrep' : 'plain scan', percentiles(scan));
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
  const times = makeQueries(count, SEED).map((query) => {
    const startMs = performance.now();
    find.all(
      query
        .split(' ')
        .map((word) => `"${word}"`)
        .join(' OR '),
    );
    return performance.now() - startMs;
  });
  addLine('FTS5 alone', percentiles(times));
  database.close();
}

async function measureWatching(
  { root, indexDir }: { readonly root: string; readonly indexDir: string },
  addLine: AddLine,
): Promise<number> {
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
  addLine('watch', `from write to hit: ${percentiles(times)}`);
  await vault.close();
  await watch.close();
  return Math.max(...times) / 1000;
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
  return `${wallMs.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of CPU time)`;
}

function percentiles(times: readonly number[]): string {
  const { p50, p99 } = quantiles(times);
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
}
