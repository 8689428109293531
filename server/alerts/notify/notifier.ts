/**
 * Delivers alerts independently of requests: one queue per target, so that a beginning is sent
 * before its end and a slow receiver delays no other, with retries at growing intervals.
 */
import { createCanceller } from '../../../engine/index.ts';
import type { Clock } from '../../../engine/index.ts';
import type { Upstream } from '../../../stages/providers/upstream.ts';
import type { Variables } from '../../config/env.ts';
import type { AlertResult } from '../evaluate.ts';
import { runCommand } from './command.ts';
import { toNotice } from './notice.ts';
import type { Notice } from './notice.ts';
import { targetName } from './targets.ts';
import type { NotifyTarget } from './targets.ts';
import { sendWebhook } from './webhook.ts';
import type { Delivery } from './webhook.ts';

/** Delays before each retry, unless the receiver asks for a longer one. */
const RETRY_AFTER_MS: readonly number[] = [2000, 10_000, 60_000, 300_000];
/** Notices queued per target at most; beyond it the oldest is dropped. */
const MAX_WAITING = 50;

export interface NotifierOptions {
  readonly upstream: Pick<Upstream, 'send'>;
  readonly clock: Clock;
  readonly random: (bytes: number) => Buffer;
  readonly env: Variables;
  readonly home: () => string;
  readonly version: string;
  /** Delays before each retry. */
  readonly retryAfterMs?: readonly number[];
  /** Called with each failed delivery, described without secrets. */
  readonly onFailure: (text: string) => void;
}

/** Result of testing one target. */
export interface TestedTarget {
  readonly alert: string;
  readonly target: string;
  readonly delivered: boolean;
  readonly result: string;
}

interface Queue {
  readonly waiting: Notice[];
  isRunning: boolean;
}

export type Notifier = ReturnType<typeof createNotifier>;

export function createNotifier(options: NotifierOptions) {
  const { upstream, clock, random, env, home, version, onFailure } = options;
  const { retryAfterMs: waitsMs = RETRY_AFTER_MS } = options;
  const canceller = createCanceller();
  /** Keyed by the target's definition: a reload that does not change a target keeps its queue. */
  const queues = new Map<string, Queue>();
  const running = new Set<Promise<void>>();
  const wakers = new Set<() => void>();

  function attempt(target: NotifyTarget, notice: Notice): Promise<Delivery> {
    return target.kind === 'webhook'
      ? sendWebhook(target, notice, { upstream, clock, version, signal: canceller.signal })
      : runCommand(target, notice, { clock, env, home: home() });
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        wakers.delete(wake);
        resolve();
      };
      const cancel = clock.after(ms, end);
      const wake = () => {
        cancel();
        end();
      };
      wakers.add(wake);
    });
  }

  async function deliver(target: NotifyTarget, notice: Notice): Promise<void> {
    for (let attempts = 1; ; attempts += 1) {
      const result = await attempt(target, notice);
      if (result.isDelivered || canceller.signal.aborted) return;
      const waitMs = waitsMs[attempts - 1];
      if (!result.isWorthRetrying || waitMs === undefined) {
        const after = attempts === 1 ? '' : ` after ${attempts} attempts`;
        onFailure(
          `${notice.alert}: not delivered to ${targetName(target)}${after}: ${result.description}`,
        );
        return;
      }
      await pause(Math.max(waitMs, result.retryAfterMs ?? 0));
      if (canceller.signal.aborted) return;
    }
  }

  async function drain(target: NotifyTarget, queue: Queue): Promise<void> {
    for (let next = queue.waiting.shift(); next !== undefined; next = queue.waiting.shift())
      await deliver(target, next);
    queue.isRunning = false;
  }

  function add(target: NotifyTarget, notice: Notice): void {
    const key = JSON.stringify(target);
    const queue = queues.get(key) ?? { waiting: [], isRunning: false };
    queues.set(key, queue);
    queue.waiting.push(notice);
    if (queue.waiting.length > MAX_WAITING) {
      const [left] = queue.waiting.splice(0, 1);
      onFailure(
        `${left?.alert}: left out for ${targetName(target)}, where ${MAX_WAITING} others wait`,
      );
    }
    if (queue.isRunning) return;
    queue.isRunning = true;
    const work = drain(target, queue).finally(() => {
      running.delete(work);
      if (!queue.isRunning && queue.waiting.length === 0) queues.delete(key);
    });
    running.add(work);
  }

  function noticeOf(result: AlertResult, state: Notice['state']): Notice {
    const id = `alert_${random(9).toString('base64url')}`;
    return toNotice(result, state, { id, nowMs: clock.wallMs() });
  }

  return {
    /** Queues the news in `results` and returns at once. */
    notify(results: readonly AlertResult[]): void {
      if (canceller.signal.aborted) return;
      for (const result of results) {
        if (result.news === undefined) continue;
        const notice = noticeOf(result, result.news === 'begun' ? 'firing' : 'resolved');
        for (const target of result.rule.notify) add(target, notice);
      }
    },

    /** Sends one test to every target of the rules, and returns the results. */
    test(results: readonly AlertResult[]): Promise<readonly TestedTarget[]> {
      return Promise.all(
        results.flatMap((result) =>
          result.rule.notify.map(async (target) => {
            const { isDelivered, description } = await attempt(target, noticeOf(result, 'test'));
            return {
              alert: result.rule.name,
              target: targetName(target),
              delivered: isDelivered,
              result: description,
            };
          }),
        ),
      );
    },

    /** Resolves when all queues are empty. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },

    /** Drops all queued notices; returns their number. */
    stop(): number {
      const left = [...queues.values()].reduce(
        (sum, { waiting, isRunning }) => sum + waiting.length + (isRunning ? 1 : 0),
        0,
      );
      for (const queue of queues.values()) queue.waiting.length = 0;
      canceller.abort(new Error('svc stops'));
      for (const wake of wakers) wake();
      return left;
    },
  };
}
