/**
 * Stores the answer of a cacheable request when it is complete, and passes it to identical requests
 * that wait for it.
 */
import { defineStage } from '../../engine/index.ts';
import type { Settlement } from '../../engine/index.ts';
import { isKeptHeader } from '../answers/answer.ts';
import type { UsageObserver } from '../model/dialect.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { headerValue, withoutHeaders } from '../model/headers.ts';
import type { KeptAnswer } from '../model/kept-answer.ts';
import type { ProxyRequest } from '../model/request.ts';
import type { Services } from '../services.ts';

export interface KeepConfig {
  /** Larger answers are not cached, nor kept in memory for that purpose. */
  readonly maxAnswerBytes: number;
}

interface Keeping {
  chunks: Buffer[] | undefined;
  sizeBytes: number;
  observer: UsageObserver | undefined;
}

/** A failed or unfinished answer is neither cached nor shared. */
function keptAnswer(settlement: Settlement<ProxyFrame>, state: Keeping): KeptAnswer | undefined {
  const { head } = settlement.last;
  if (settlement.outcome !== 'ok' || head === undefined || state.chunks === undefined)
    return undefined;
  if (head.failed === true) return undefined;
  if (head.streaming) {
    const isComplete = state.observer?.terminated() === true && !state.observer.failed();
    if (!isComplete) return undefined;
  }
  return {
    status: head.status,
    headers: withoutHeaders(head.headers, (name) => !isKeptHeader(name)),
    streaming: head.streaming,
    chunks: state.chunks,
    usage: head.usage?.() ?? state.observer?.usage(),
  };
}

/** An answer is cached under the provider that was chosen first, so not if a fallback answered. */
function isByFirst(request: ProxyRequest | undefined): boolean {
  const { route } = request ?? {};
  return route?.provider === route?.targets[0]?.provider;
}

function cacheOf(request: ProxyRequest | undefined): ProxyRequest['report']['cache'] {
  return request?.report.cache;
}

/** Watches the answer; acts when the run has settled. */
export const keep = defineStage<ProxyFrame, KeepConfig, Services>({
  name: 'keep',
  build: (config, services) => ({
    open: (): Keeping => ({ chunks: undefined, sizeBytes: 0, observer: undefined }),
    watch: {
      head(head, ctx) {
        const state: Keeping = ctx.state;
        if (cacheOf(head.request) === undefined || head.status !== 200) return;
        state.chunks = [];
        const isPlain =
          (headerValue(head.headers, 'content-encoding') ?? 'identity') === 'identity';
        if (head.streaming && isPlain)
          state.observer = head.request.original.dialect.observeUsage(true);
      },
      chunk({ bytes, metered }, ctx) {
        const state: Keeping = ctx.state;
        if (state.chunks === undefined) return;
        state.sizeBytes += bytes.length;
        if (state.sizeBytes > config.maxAnswerBytes) {
          state.chunks = undefined;
          return;
        }
        state.chunks.push(bytes);
        state.observer?.push(metered ?? bytes);
      },
    },
    settled(settlement, ctx) {
      const cache = cacheOf(settlement.last.head?.request ?? settlement.last.request?.request);
      if (cache === undefined) return;
      const answer = keptAnswer(settlement, ctx.state);
      if (answer !== undefined && isByFirst(settlement.last.head?.request)) {
        services.answers.store.put(cache.key, answer);
      }
      cache.land(answer);
    },
  }),
});
