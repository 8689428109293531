/**
 * The certificate: five promises, checked on real sessions. The request that would have been sent
 * is produced by the proxy's own code, and read back by decoders that no request uses.
 */
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import { stringOf } from '../../stages/dialect/json-kind.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import type { EstimateSettings } from '../estimate/conversation.ts';
import { createCounters } from '../estimate/counters.ts';
import { readFolders } from '../sessions/read-folders.ts';
import type { FoldersJob, FoldersRead } from '../sessions/read-folders.ts';
import type { Conversation } from '../sessions/session.ts';
import { createCosts } from './costs.ts';
import type { CostFigures } from './costs.ts';
import { checkPairs } from './pairs.ts';
import { readPairs } from './pairs-folder.ts';
import type { PairedSession } from './pairs-folder.ts';
import { checkConversation } from './session.ts';
import type { BrokenPromise, CheckedCounts } from './session.ts';

export interface CertifyJob extends FoldersJob {
  readonly options: EstimateSettings;
  readonly prices: Prices;
  /** The model's own tokens per token of the fixed estimator, as learned by svc. */
  readonly tokenRatio: (model: string | null) => number;
  /** Judged instead of the sessions in the folders. */
  readonly conversations?: readonly Conversation[];
  /** A folder of another tool's bodies, judged in place of both. */
  readonly pairs?: string;
}

export interface CheckResult {
  readonly name: 'retention' | 'prefix' | 'cost' | 'failures' | 'honesty';
  readonly holds: boolean;
}

export interface Certificate extends FoldersRead, CostFigures {
  /** True if another tool was judged. */
  readonly isForeign: boolean;
  readonly holds: boolean;
  readonly checks: readonly CheckResult[];
  readonly conversations: number;
  readonly counts: Omit<CheckedCounts, 'broken'>;
  readonly broken: readonly BrokenPromise[];
}

/**
 * A claim may exceed the recount by this share: it is based on an estimate of tokens, the recount
 * on a tokenizer.
 */
export const MAX_OVERCLAIMED = 0.1;
const CACHE_ENTRIES = 2000;

const NOTHING: Omit<CheckedCounts, 'broken'> = {
  turns: 0,
  fromNothing: 0,
  cold: 0,
  thoughts: 0,
  changedBlocks: 0,
  quoted: 0,
  failureLines: 0,
  claimedTokens: 0,
  recountedTokens: 0,
};

/**
 * Judges the sessions in the folders, or `conversations`. Unreadable files are listed in the
 * certificate; rejects if a session cannot be judged.
 */
export async function certify(job: CertifyJob): Promise<Certificate> {
  const compressor = createConversationCompressor(CACHE_ENTRIES);
  const counterFor = createCounters();
  const { options: settings, prices, clock } = job;
  const costs = createCosts({ compressor, settings, prices, nowMs: clock.wallMs(), counterFor });
  const counts: Record<keyof typeof NOTHING, number> = { ...NOTHING };
  const broken: BrokenPromise[] = [];
  let conversations = 0;
  let failure: { readonly thrown: unknown } | undefined;
  const addCounts = (checked: CheckedCounts, tokenRatio = 1): void => {
    conversations += 1;
    for (const name of Object.keys(NOTHING) as (keyof typeof NOTHING)[])
      counts[name] += name === 'claimedTokens' ? checked[name] * tokenRatio : checked[name];
    broken.push(...checked.broken);
  };
  const judge = async (conversation: Conversation): Promise<void> => {
    const model = conversation.requests.find((request) => request.model !== null)?.model ?? null;
    const count = await counterFor(model ?? '');
    const checked = await checkConversation(conversation, { compressor, settings, count });
    addCounts(checked, job.tokenRatio(model));
    await costs.add(conversation, count);
  };
  const judgePairs = async (session: PairedSession): Promise<void> => {
    const count = await counterFor(stringOf(session.pairs[0]?.before['model']) ?? '');
    const { checked, conversation, usages } = checkPairs(session, count);
    addCounts(checked);
    costs.addSimulated(conversation, usages);
  };
  // `readFolders` would take an error for a fault of the file, but a certificate must not leave out
  // a session.
  const recordingFailure =
    <T>(work: (item: T) => Promise<void>) =>
    async (item: T): Promise<void> => {
      try {
        await work(item);
      } catch (thrown) {
        failure ??= { thrown };
      }
    };
  const read =
    job.pairs !== undefined
      ? await readPairs(job.pairs, job.progress, recordingFailure(judgePairs))
      : job.conversations === undefined
        ? await readFolders(job, recordingFailure(judge))
        : await judgeAll(job, recordingFailure(judge));
  if (failure !== undefined) throw failure.thrown;
  const figures = costs.figures();
  const checks = checksOf(counts, broken, figures);
  return {
    ...read,
    ...figures,
    isForeign: job.pairs !== undefined,
    holds: checks.every(({ holds }) => holds),
    checks,
    conversations,
    counts: { ...counts, claimedTokens: Math.round(counts.claimedTokens) },
    broken,
  };
}

function checksOf(
  { claimedTokens, recountedTokens }: Omit<CheckedCounts, 'broken'>,
  broken: readonly BrokenPromise[],
  { dearer }: CostFigures,
): readonly CheckResult[] {
  const isKept = (name: BrokenPromise['check']): boolean =>
    broken.every(({ check }) => check !== name);
  const maxTokens = Math.max(0, recountedTokens) * (1 + MAX_OVERCLAIMED);
  return [
    { name: 'retention', holds: isKept('retention') },
    { name: 'prefix', holds: isKept('prefix') },
    { name: 'cost', holds: dearer.length === 0 },
    { name: 'failures', holds: isKept('failures') },
    { name: 'honesty', holds: claimedTokens <= maxTokens },
  ];
}

async function judgeAll(
  { conversations = [], progress }: CertifyJob,
  take: (conversation: Conversation) => Promise<void>,
): Promise<FoldersRead> {
  for (const [done, conversation] of conversations.entries()) {
    progress?.({ done, total: conversations.length });
    await take(conversation);
  }
  return { files: 0, failed: [], left: 0, unreadLines: 0 };
}
