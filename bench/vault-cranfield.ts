/**
 * Retrieval quality: nDCG@10 of both backends on a collection in three files, `docs.jsonl`
 * ({id, text}), `queries.jsonl` ({id, text}) and `qrels.tsv` (query, document, relevance).
 * Run as `node dist/bench/vault-cranfield.js <folder>`.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../engine/clock.ts';
import { openVault, type BackendName } from '../stages/vault/index.ts';

interface Text {
  readonly id: string;
  readonly text: string;
}

/** What a backend reached, and the scores it gave, for comparing backends. */
export interface Quality {
  readonly backend: BackendName;
  readonly ndcg10: number;
  /** Ids and scores of the first ten hits, query by query. */
  readonly hits: readonly (readonly { readonly id: string; readonly score: number }[])[];
}

/** Puts the collection in `folder` into a new vault and asks all queries. Queries without a relevant document count as zero. */
export async function measureQuality(folder: string, backend: BackendName): Promise<Quality> {
  const read = (name: string): string[] =>
    readFileSync(join(folder, name), 'utf8').trim().split('\n');
  const parse = (name: string): Text[] => read(name).map((line) => JSON.parse(line) as Text);
  const relevant = readJudgements(read('qrels.tsv'));
  const indexDir = mkdtempSync(join(tmpdir(), 'svc-quality-'));
  const vault = openVault({ indexDir, backend, clock: systemClock, newId: randomUUID });
  try {
    const docs = parse('docs.jsonl').filter(({ text }) => text.trim() !== '');
    for (let at = 0; at < docs.length; at += 1_000) {
      await vault.ingest(docs.slice(at, at + 1_000).map(({ id, text }) => ({ id, content: text })));
    }
    const hits = [];
    let sum = 0;
    const queries = parse('queries.jsonl');
    for (const { id, text } of queries) {
      const found = await vault.search(text, { top: 10, includeUnsafe: true });
      hits.push(found.map((hit) => ({ id: hit.id, score: hit.score })));
      sum += ndcg(
        found.map((hit) => hit.id),
        relevant.get(id) ?? new Set(),
      );
    }
    return { backend, ndcg10: sum / queries.length, hits };
  } finally {
    await vault.close();
    rmSync(indexDir, { recursive: true });
  }
}

/** The largest difference between two backends' scores; infinite when they found different blocks. */
export function scoreGap(a: Quality, b: Quality): number {
  let gap = 0;
  for (const [query, hits] of a.hits.entries()) {
    const others = b.hits[query] ?? [];
    if (hits.length !== others.length) return Infinity;
    for (const [rank, hit] of hits.entries()) {
      if (others[rank]!.id !== hit.id) return Infinity;
      gap = Math.max(gap, Math.abs(others[rank]!.score - hit.score));
    }
  }
  return gap;
}

function readJudgements(lines: readonly string[]): Map<string, Set<string>> {
  const relevant = new Map<string, Set<string>>();
  for (const line of lines) {
    const [query, doc, relevance] = line.split('\t');
    if (query === undefined || doc === undefined || !(Number(relevance) > 0)) continue;
    const docs = relevant.get(query) ?? new Set();
    relevant.set(query, docs.add(doc));
  }
  return relevant;
}

function ndcg(found: readonly string[], relevant: ReadonlySet<string>): number {
  const gain = (rank: number): number => 1 / Math.log2(rank + 2);
  let reached = 0;
  let ideal = 0;
  for (const [rank, id] of found.entries()) if (relevant.has(id)) reached += gain(rank);
  for (let rank = 0; rank < Math.min(10, relevant.size); rank++) ideal += gain(rank);
  return ideal === 0 ? 0 : reached / ideal;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('Usage: vault-cranfield <folder>');
  const memory = await measureQuality(folder, 'json_blocks');
  const sqlite = await measureQuality(folder, 'sqlite');
  for (const { backend, ndcg10 } of [memory, sqlite]) {
    process.stdout.write(`${backend.padEnd(12)} nDCG@10 ${ndcg10.toFixed(4)}\n`);
  }
  process.stdout.write(`largest difference of scores: ${scoreGap(memory, sqlite)}\n`);
}
