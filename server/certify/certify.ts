/**
 * The certificate: five promises, judged on sessions that took place. What would have been sent is
 * made by the code that a proxy runs, and read again by decoders that no request needs.
 */
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import { estimateConversation } from '../estimate/conversation.ts';
import type { EstimateSettings } from '../estimate/conversation.ts';
import { createCounters } from '../estimate/counters.ts';
import { LENGTHS } from '../estimate/sums.ts';
import { providerOf } from '../estimate/worth.ts';
import { readFolders } from '../sessions/read-folders.ts';
import type { FoldersJob, FoldersRead } from '../sessions/read-folders.ts';
import type { Conversation } from '../sessions/session.ts';
import { boundsOf } from './bootstrap.ts';
import type { Bounds } from './bootstrap.ts';
import { checkConversation } from './session.ts';
import type { Broken, Checked } from './session.ts';
import { simulatedUsage } from './simulated-usage.ts';

export interface CertifyJob extends FoldersJob {
  readonly options: EstimateSettings;
  readonly prices: Prices;
  /** A model's own tokens for one of the fixed estimator's, as svc has learned it. */
  readonly tokenRatio: (model: string | null) => number;
  /** Judged in place of what lies in the folders. */
  readonly conversations?: readonly Conversation[];
}

/** Costs are input costs in nano-dollars; a share is what is left of it, 1 for the cost without svc. */
export interface CostGroup {
  readonly client: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly sessions: number;
  readonly costNanoUsd: number;
  readonly sentNanoUsd: number;
  readonly share: Bounds;
  readonly worst: number;
}

export interface CheckResult {
  readonly name: 'retention' | 'prefix' | 'cost' | 'failures' | 'honesty';
  readonly holds: boolean;
}

export interface Certificate extends FoldersRead {
  readonly holds: boolean;
  readonly checks: readonly CheckResult[];
  readonly sessions: number;
  readonly conversations: number;
  readonly counts: Omit<Checked, 'broken'>;
  readonly costs: readonly CostGroup[];
  /** Sessions whose cost is from a simulated cache, since the file has no counts; and those without a known price. */
  readonly simulated: number;
  readonly unpriced: number;
  readonly dearer: readonly { readonly session: string; readonly share: number }[];
  readonly broken: readonly Broken[];
}

/** A claim may be above the recount by this part: it is made by an estimate of tokens, the recount by counting them. */
export const MOST_OVERCLAIMED = 0.1;
/** Rounding alone makes nothing dearer. */
const DEARER = 1 + 1e-9;
const CACHE_ENTRIES = 2000;

interface SessionCost {
  readonly client: string;
  readonly session: string;
  requests: number;
  before: number;
  after: number;
  isSimulated: boolean;
}

const NOTHING: Omit<Checked, 'broken'> = {
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
 * Reads what lies in the folders, or judges `conversations`. What cannot be read is named in the
 * certificate; rejects for what cannot be judged.
 */
export async function certify(job: CertifyJob): Promise<Certificate> {
  const compressor = createConversationCompressor(CACHE_ENTRIES);
  const counterFor = createCounters();
  const counts: Record<keyof typeof NOTHING, number> = { ...NOTHING };
  const costs = new Map<string, SessionCost>();
  const broken: Broken[] = [];
  let conversations = 0;
  let failure: { readonly thrown: unknown } | undefined;
  const take = async (conversation: Conversation): Promise<void> => {
    // A reader of folders takes it for a fault of the file, and a certificate must not leave a session out.
    try {
      await judge(conversation);
    } catch (thrown) {
      failure ??= { thrown };
    }
  };
  const judge = async (conversation: Conversation): Promise<void> => {
    conversations += 1;
    const model = conversation.requests.find((one) => one.model !== null)?.model ?? null;
    const count = await counterFor(model ?? '');
    const checked = await checkConversation(conversation, {
      compressor,
      settings: job.options,
      count,
    });
    for (const name of Object.keys(NOTHING) as (keyof typeof NOTHING)[])
      counts[name] +=
        name === 'claimedTokens' ? checked[name] * job.tokenRatio(model) : checked[name];
    broken.push(...checked.broken);
    const { client, sessionId: session } = conversation;
    const key = `${client} ${session}`;
    const cost = costs.get(key) ?? {
      client,
      session,
      requests: 0,
      before: 0,
      after: 0,
      isSimulated: false,
    };
    costs.set(key, cost);
    cost.requests += conversation.requests.length;
    if (conversation.requests.every(({ usage }) => usage === null)) {
      cost.isSimulated = true;
      const provider = providerOf(conversation);
      const usages = await simulatedUsage(conversation, compressor, job.options, count);
      for (const [at, { before, after }] of usages.entries()) {
        const { model: name, atMs } = conversation.requests[at]!;
        const price = (usage: typeof before): number =>
          job.prices.costNanoUsd(provider, name ?? '', usage, atMs ?? job.clock.wallMs()) ?? 0;
        cost.before += price(before);
        cost.after += price(after);
      }
      return;
    }
    const estimate = await estimateConversation(conversation, {
      compressor,
      options: job.options,
      prices: job.prices,
      nowMs: job.clock.wallMs(),
      counterFor,
    });
    cost.before += estimate.costNanoUsd;
    cost.after += estimate.costNanoUsd - estimate.costSavedNanoUsd;
  };
  const read =
    job.conversations === undefined ? await readFolders(job, take) : await judgeAll(job, take);
  if (failure !== undefined) throw failure.thrown;
  const all = [...costs.values()];
  const priced = all.filter(({ before }) => before > 0);
  const dearer = priced
    .filter(({ before, after }) => after > before * DEARER)
    .map(({ session, before, after }) => ({ session, share: after / before }));
  const isKept = (name: Broken['check']): boolean => broken.every(({ check }) => check !== name);
  const { claimedTokens, recountedTokens } = counts;
  const checks: readonly CheckResult[] = [
    { name: 'retention', holds: isKept('retention') },
    { name: 'prefix', holds: isKept('prefix') },
    { name: 'cost', holds: dearer.length === 0 },
    { name: 'failures', holds: isKept('failures') },
    {
      name: 'honesty',
      holds: claimedTokens <= Math.max(0, recountedTokens) * (1 + MOST_OVERCLAIMED),
    },
  ];
  return {
    ...read,
    holds: checks.every(({ holds }) => holds),
    checks,
    sessions: all.length,
    conversations,
    counts: { ...counts, claimedTokens: Math.round(claimedTokens) },
    costs: groupsOf(priced),
    simulated: all.filter(({ isSimulated }) => isSimulated).length,
    unpriced: all.length - priced.length,
    dearer,
    broken,
  };
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

/** A client's sessions together, then by their length. */
function groupsOf(sessions: readonly SessionCost[]): readonly CostGroup[] {
  const clients = [...new Set(sessions.map(({ client }) => client))];
  return clients.flatMap((client) =>
    [{ from: null, to: null }, ...LENGTHS].flatMap(({ from, to }): CostGroup[] => {
      const own = sessions.filter(
        (one) =>
          one.client === client && one.requests >= (from ?? 0) && one.requests <= (to ?? Infinity),
      );
      const shares = own.map(({ before, after }) => after / before);
      const share = boundsOf(shares);
      if (share === null) return [];
      const sum = (name: 'before' | 'after') => own.reduce((total, one) => total + one[name], 0);
      return [
        {
          client,
          from,
          to,
          sessions: own.length,
          costNanoUsd: sum('before'),
          sentNanoUsd: sum('after'),
          share,
          worst: Math.max(...shares),
        },
      ];
    }),
  );
}
