/**
 * Compares the costs of sessions without svc and with it: by the usage in their files, or by a
 * simulated cache if there is none.
 */
import type { ConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import type { Prices } from '../../stages/ledger/prices/prices.ts';
import { estimateConversation } from '../estimate/conversation.ts';
import type { EstimateSettings } from '../estimate/conversation.ts';
import { LENGTHS } from '../estimate/sums.ts';
import { providerOf } from '../estimate/input-cost.ts';
import type { Conversation } from '../sessions/session.ts';
import { boundsOf } from './bootstrap.ts';
import type { Bounds } from './bootstrap.ts';
import { simulatedUsage } from './simulated-usage.ts';
import type { SimulatedUsage } from './simulated-usage.ts';

/**
 * Costs are input costs in nano-dollars; a share is the remaining part, 1 for the cost without svc.
 */
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

export interface CostFigures {
  readonly sessions: number;
  /** By client, then by length. */
  readonly costs: readonly CostGroup[];
  /**
   * Sessions priced with a simulated cache, since the file has no usage; and those without a known
   * price.
   */
  readonly simulated: number;
  readonly unpriced: number;
  readonly dearer: readonly { readonly session: string; readonly share: number }[];
}

export interface CostOptions {
  readonly compressor: ConversationCompressor;
  readonly settings: EstimateSettings;
  readonly prices: Prices;
  readonly nowMs: number;
  readonly counterFor: (model: string) => Promise<CountTokens>;
}

/** Tolerance for rounding: within it no session counts as more expensive. */
const ROUNDING_TOLERANCE = 1 + 1e-9;

interface Cost {
  readonly before: number;
  readonly after: number;
}

interface SessionCost extends Cost {
  readonly client: string;
  readonly session: string;
  readonly requests: number;
  readonly isSimulated: boolean;
}

/** Creates a sum of conversation costs by session. */
export function createCosts(options: CostOptions): {
  add(conversation: Conversation, count: CountTokens): Promise<void>;
  /** Adds a conversation that was simulated already, with the usage of each of its requests. */
  addSimulated(conversation: Conversation, usages: readonly SimulatedUsage[]): void;
  figures(): CostFigures;
} {
  const sessions = new Map<string, SessionCost>();
  const add = (conversation: Conversation, cost: Cost, isSimulated: boolean): void => {
    const { client, sessionId: session, requests } = conversation;
    const key = `${client} ${session}`;
    const known = sessions.get(key);
    sessions.set(key, {
      client,
      session,
      requests: (known?.requests ?? 0) + requests.length,
      before: (known?.before ?? 0) + cost.before,
      after: (known?.after ?? 0) + cost.after,
      isSimulated: isSimulated || known?.isSimulated === true,
    });
  };
  return {
    async add(conversation, count) {
      const isSimulated = conversation.requests.every(({ usage }) => usage === null);
      const cost = isSimulated
        ? await simulatedCost(conversation, count, options)
        : await recordedCost(conversation, options);
      add(conversation, cost, isSimulated);
    },
    addSimulated: (conversation, usages) =>
      add(conversation, costOf(conversation, usages, options), true),
    figures: () => figuresOf([...sessions.values()]),
  };
}

async function simulatedCost(
  conversation: Conversation,
  count: CountTokens,
  options: CostOptions,
): Promise<Cost> {
  const { compressor, settings } = options;
  const usages = await simulatedUsage(conversation, compressor, settings, count);
  return costOf(conversation, usages, options);
}

function costOf(
  conversation: Conversation,
  usages: readonly SimulatedUsage[],
  { prices, nowMs }: CostOptions,
): Cost {
  const provider = providerOf(conversation);
  let [before, after] = [0, 0];
  for (const [index, usage] of usages.entries()) {
    const { model, atMs } = conversation.requests[index]!;
    const price = (one: typeof usage.before): number =>
      prices.costNanoUsd(provider, model ?? '', one, atMs ?? nowMs) ?? 0;
    before += price(usage.before);
    after += price(usage.after);
  }
  return { before, after };
}

async function recordedCost(
  conversation: Conversation,
  { compressor, settings, prices, nowMs, counterFor }: CostOptions,
): Promise<Cost> {
  const { costNanoUsd, costSavedNanoUsd } = await estimateConversation(conversation, {
    compressor,
    options: settings,
    prices,
    nowMs,
    counterFor,
  });
  return { before: costNanoUsd, after: costNanoUsd - costSavedNanoUsd };
}

function figuresOf(all: readonly SessionCost[]): CostFigures {
  const priced = all.filter(({ before }) => before > 0);
  return {
    sessions: all.length,
    costs: groupsOf(priced),
    simulated: all.filter(({ isSimulated }) => isSimulated).length,
    unpriced: all.length - priced.length,
    dearer: priced
      .filter(({ before, after }) => after > before * ROUNDING_TOLERANCE)
      .map(({ session, before, after }) => ({ session, share: after / before })),
  };
}

/** Groups sessions by client, then also by length. */
function groupsOf(sessions: readonly SessionCost[]): readonly CostGroup[] {
  const clients = [...new Set(sessions.map(({ client }) => client))];
  return clients.flatMap((client) =>
    [{ from: null, to: null }, ...LENGTHS].flatMap(({ from, to }): CostGroup[] => {
      const own = sessions.filter(
        (session) =>
          session.client === client &&
          session.requests >= (from ?? 0) &&
          session.requests <= (to ?? Infinity),
      );
      const shares = own.map(({ before, after }) => after / before);
      const share = boundsOf(shares);
      if (share === null) return [];
      const sum = (name: 'before' | 'after') =>
        own.reduce((total, session) => total + session[name], 0);
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
