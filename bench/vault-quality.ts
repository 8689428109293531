/**
 * Retrieval quality: nDCG@10 of a backend on a collection, and the difference between two backends'
 * scores.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../engine/clock.ts';
import type { CorpusRetrieval } from '../fixtures/corpus.ts';
import { openVault } from '../stages/vault/vault.ts';
import type { BackendName } from '../stages/vault/backends/block-index.ts';

/** A backend's quality, and its scores for comparison. */
export interface Quality {
  readonly backend: BackendName;
  readonly ndcg10: number;
  /** Ids and scores of the first ten hits, query by query. */
  readonly hits: readonly (readonly { readonly id: string; readonly score: number }[])[];
}

/**
 * Indexes `collection` in a new vault and runs all queries. Queries without a relevant document
 * count as zero.
 */
export async function measureRetrieval(
  collection: CorpusRetrieval,
  backend: BackendName,
): Promise<Quality> {
  const indexDir = mkdtempSync(join(tmpdir(), 'svc-quality-'));
  const vault = openVault({ indexDir, backend, clock: systemClock, newId: randomUUID });
  try {
    const docs = collection.docs.filter(({ text }) => text.trim() !== '');
    for (let at = 0; at < docs.length; at += 1_000) {
      await vault.ingest(docs.slice(at, at + 1_000).map(({ id, text }) => ({ id, content: text })));
    }
    const hits = [];
    let sum = 0;
    for (const { id, text } of collection.queries) {
      const found = await vault.search(text, { top: 10, includeUnsafe: true });
      hits.push(found.map((hit) => ({ id: hit.id, score: hit.score })));
      sum += ndcg(
        found.map((hit) => hit.id),
        relevantTo(collection, id),
      );
    }
    return { backend, ndcg10: sum / collection.queries.length, hits };
  } finally {
    await vault.close();
    rmSync(indexDir, { recursive: true });
  }
}

/**
 * Returns the largest difference between two backends' scores; infinite if they found different
 * blocks.
 */
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

function relevantTo({ relevance }: CorpusRetrieval, query: string): ReadonlySet<string> {
  const grades = [...(relevance.get(query) ?? [])];
  return new Set(grades.flatMap(([doc, grade]) => (grade > 0 ? [doc] : [])));
}

function ndcg(found: readonly string[], relevant: ReadonlySet<string>): number {
  const gain = (rank: number): number => 1 / Math.log2(rank + 2);
  let reached = 0;
  let ideal = 0;
  for (const [rank, id] of found.entries()) if (relevant.has(id)) reached += gain(rank);
  for (let rank = 0; rank < Math.min(10, relevant.size); rank++) ideal += gain(rank);
  return ideal === 0 ? 0 : reached / ideal;
}
