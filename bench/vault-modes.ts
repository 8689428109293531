/** The vault's two benchmarks as modes: measurements, verdicts, and text. */
import { openCorpus } from '../fixtures/corpus.ts';
import { BACKENDS } from '../stages/vault/backends/block-index.ts';
import { judgeRetrieval, judgeVault, type Verdict } from './bars.ts';
import { verdictText } from './report.ts';
import { measureRetrieval, scoreGap, type Quality } from './vault-quality.ts';
import { measureVault, type VaultRun } from './vault-speed.ts';

const QUERIES = 300;
const COLLECTION = 'cranfield';

/** Result of a mode. */
export interface Found<T> {
  readonly run: T;
  readonly verdicts: readonly Verdict[];
  readonly text: string;
}

/** Both backends on one collection; none without a corpus. */
export interface RetrievalRun {
  readonly backends: readonly Pick<Quality, 'backend' | 'ndcg10'>[];
  readonly scoreGap: number;
}

/** Measures speed, with trees of `files` files. */
export async function benchVault(
  files: number,
  onProgress: (text: string) => void,
  queries = QUERIES,
): Promise<Found<VaultRun>> {
  const run = await measureVault(files, queries, onProgress);
  const verdicts = judgeVault(run);
  const text = [`vault: ${files} files of each kind`, ...run.lines, ...verdicts.map(verdictText)];
  return { run, verdicts, text: text.join('\n') };
}

/** Measures quality on the corpus's collection; without a corpus every bar is missed. */
export async function benchRetrieval(corpus = openCorpus()): Promise<Found<RetrievalRun>> {
  const collection = corpus?.retrieval(COLLECTION);
  const qualities: Quality[] = [];
  for (const backend of BACKENDS) {
    if (collection !== undefined) qualities.push(await measureRetrieval(collection, backend));
  }
  const [first, second] = qualities;
  const gap = first === undefined || second === undefined ? Number.NaN : scoreGap(first, second);
  const verdicts = judgeRetrieval(qualities, gap);
  const about = collection === undefined ? 'there is no corpus' : COLLECTION;
  const backends = qualities.map(({ backend, ndcg10 }) => ({ backend, ndcg10 }));
  const text = [`retrieval: ${about}`, ...verdicts.map(verdictText)].join('\n');
  return { run: { backends, scoreGap: gap }, verdicts, text };
}
