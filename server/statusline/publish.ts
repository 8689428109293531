/** Keeps the file of `status.ts` up to date while the proxy runs. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../engine/index.ts';
import {
  isObject,
  numberOf,
  objectOf,
  parseJson,
  stringOf,
} from '../../stages/dialect/json-kind.ts';
import {
  addToTotals,
  emptyTotals,
  knownCost,
  knownNetSaving,
  promptCacheRatio,
  toUsd,
} from '../../stages/ledger/figures.ts';
import type { RunningTotals } from '../../stages/ledger/figures.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import type { PlanLimits } from '../../stages/limits/plan-limits.ts';
import { replaceFile } from '../../stages/private-file.ts';
import { limitsJson } from '../facts/limits.ts';
import { STATUS_FORMAT, statusPath } from './status.ts';
import type { SessionStatus, StatusJson } from './status.ts';

/** Newest sessions kept: clients can name any number. */
const MAX_SESSIONS = 50;
const MAX_LIMITS = 20;
/** The file is written at once, but at most once per this interval. */
const WRITE_EVERY_MS = 250;

/** The sums from which the figures are derived. */
const SUMMED = [
  'requests',
  'costNanoUsd',
  'costSavedNanoUsd',
  'costAddedNanoUsd',
  'priced',
  'unpriced',
  'savedTokens',
  'sentInputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
] as const satisfies readonly (keyof RunningTotals)[];

interface Kept {
  readonly totals: RunningTotals;
  /** As in the file; replaced as soon as the proxy has newer data. */
  readonly owner: Owner | undefined;
}

type Owner = Readonly<Record<'provider' | 'key', string>>;

export interface PublishOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly planLimits: Pick<PlanLimits, 'list' | 'keyOf'>;
  /** Called once when the file cannot be written; writing is still retried. */
  readonly onProblem: (thrown: unknown) => void;
}

/**
 * Continues the file of an earlier process. Never rejects: without a valid file it begins at zero.
 */
export async function openStatusline(options: PublishOptions) {
  const { home, clock, planLimits } = options;
  const file = statusPath(home);
  const before = await readStatus(file);
  const sessions = new Map<string, Kept>();
  for (const [id, session] of Object.entries(objectOf(before['sessions'])))
    sessions.set(id, keptOf(session));
  let { day, ...today } = { day: dayOf(clock), ...keptOf(undefined) };
  if (objectOf(before['today'])['day'] === day) today = keptOf(before['today']);
  let writing: Promise<void> | undefined;
  let isDue = false;
  let isEnded = false;
  let hasFailed = false;

  function startDay(): void {
    const now = dayOf(clock);
    if (now !== day) [day, today] = [now, keptOf(undefined)];
  }

  function document(): StatusJson {
    startDay();
    const toStatus = ({ totals, owner }: Kept, known?: Owner) => statusOf(totals, known ?? owner);
    return {
      format: STATUS_FORMAT,
      pid: isEnded ? null : process.pid,
      sessions: Object.fromEntries(
        [...sessions].map(([id, kept]) => [id, toStatus(kept, planLimits.keyOf(id))]),
      ),
      today: { day, ...toStatus(today) },
      limits: limitsJson(planLimits).limits.slice(0, MAX_LIMITS),
    };
  }

  async function write(): Promise<void> {
    isDue = false;
    try {
      const text = JSON.stringify(document());
      // Figures lost in a machine crash are in the ledger, so the write need not be durable.
      await replaceFile(file, (draft) => draft.writeFile(text), { isDurable: false });
      hasFailed = false;
    } catch (thrown) {
      if (!hasFailed) options.onProblem(thrown);
      hasFailed = true;
    }
  }

  /** Writes now or, right after a write, a little later. */
  function publish(): void {
    isDue = true;
    if (writing !== undefined) return;
    writing = write().then(() => {
      const next = (): void => {
        writing = undefined;
        if (isDue && !isEnded) publish();
      };
      clock.after(WRITE_EVERY_MS, next);
    });
  }

  publish();
  return {
    add(row: LedgerRow): void {
      startDay();
      addToTotals(today.totals, row);
      if (row.sessionId !== null) {
        const kept = sessions.get(row.sessionId) ?? keptOf(undefined);
        addToTotals(kept.totals, row);
        sessions.delete(row.sessionId);
        sessions.set(row.sessionId, kept);
        if (sessions.size > MAX_SESSIONS) sessions.delete(sessions.keys().next().value!);
      }
      publish();
    },
    /** Writes the final state, which says that no proxy runs. */
    async close(): Promise<void> {
      isEnded = true;
      await writing;
      await write();
    },
  };
}

async function readStatus(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const status = parseJson(await readFile(file, 'utf8'));
    return isObject(status) && status['format'] === STATUS_FORMAT ? status : {};
  } catch {
    return {};
  }
}

function keptOf(session: unknown): Kept {
  const { provider, key, sums } = objectOf(session);
  const totals = emptyTotals();
  for (const name of SUMMED) totals[name] = numberOf(objectOf(sums)[name]) ?? 0;
  const [ofProvider, named] = [stringOf(provider), stringOf(key)];
  const isOwned = ofProvider !== undefined && named !== undefined;
  return { totals, owner: isOwned ? { provider: ofProvider, key: named } : undefined };
}

function statusOf(totals: RunningTotals, owner: Owner | undefined): SessionStatus {
  return {
    requests: totals.requests,
    cost_usd: toUsd(knownCost(totals)),
    saved_usd: toUsd(knownNetSaving(totals)),
    saved_tokens: totals.savedTokens,
    cache_ratio: promptCacheRatio(totals),
    provider: owner?.provider ?? null,
    key: owner?.key ?? null,
    sums: Object.fromEntries(SUMMED.map((name) => [name, totals[name]])),
  };
}

/** Returns the UTC day for accounting. */
function dayOf(clock: Clock): string {
  return new Date(clock.wallMs()).toISOString().slice(0, 10);
}
