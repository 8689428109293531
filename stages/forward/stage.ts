/**
 * Sends the request to a provider, and to the next one if the first fails, and answers with the
 * response.
 */
import { SvcError, defineStage } from '../../engine/index.ts';
import type { Answer, StageContext } from '../../engine/index.ts';
import { overloaded } from '../model/errors.ts';
import type { ProxyFrame } from '../model/frame.ts';
import { losesSaving, VERBATIM_BECAUSE } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { providerNode } from '../providers/provider-node.ts';
import type { Services } from '../services.ts';
import { answerFrom } from './attempts.ts';
import type { ForwardState, Learned } from './attempt-scope.ts';
import type { ForwardConfig } from './config.ts';
import { createOmissionLog } from './request/omission-log.ts';
import { PASSED_OVER } from './step.ts';
import { createForeignThoughts } from './request/foreign-thoughts.ts';
import { createKnownUnsupported } from './request/unsupported.ts';

function claimStreamSlot(services: Services): () => void {
  const release = services.streams.acquire();
  if (release === undefined) {
    throw overloaded('As many streams run as streaming.max_concurrent_streams allows');
  }
  return release;
}

function answer(
  request: ProxyRequest,
  config: ForwardConfig,
  services: Services,
  learned: Learned,
  ctx: StageContext<ForwardState>,
): Promise<Answer<ProxyFrame>> {
  const { route } = request;
  if (route === undefined) {
    throw new SvcError('internal', 'The request reached the provider stage without a route');
  }
  const { attempts, targets } = route;
  ctx.state.attempts = attempts;
  return answerFrom(request, targets, {
    config,
    services,
    learned,
    run: ctx.run,
    inner: ctx.inner,
    state: ctx.state,
    needsEvents: ctx.needsEvents,
    attempts,
    servedBy(provider) {
      ctx.note('provider', provider);
      ctx.state.servedNode = ctx.inner?.(providerNode(provider));
      const isVerbatim = targets.some((target) => target.provider === provider && target.verbatim);
      if (losesSaving(isVerbatim, request)) ctx.note('not_compressed_because', VERBATIM_BECAUSE);
    },
  });
}

/** Reports the attempts, for failed runs too. */
function report(
  { attempts, notes, caching, sent }: ForwardState,
  ctx: StageContext<ForwardState>,
): void {
  if (sent?.isBound === true) {
    ctx.note('blocks_as_sent', sent.repeated);
    if (sent.heldRaw > 0) ctx.note('blocks_held_raw', sent.heldRaw);
    ctx.note('as_sent_because', 'thoughts are signed over what stands before them');
    ctx.note('block_groups', sent.groups());
  }
  if (caching !== undefined) {
    if ('breakpoints' in caching) {
      // For example `messages.4.content.1`.
      const places = caching.breakpoints.map((path) => path.join('.'));
      ctx.note('cache_breakpoints', places);
    } else if ('key' in caching) ctx.note('prompt_cache_key', caching.key);
    else ctx.note('no_cache_breakpoints_because', caching.notBecause);
  }
  if (attempts !== undefined) ctx.note('tries', attempts.length);
  if (notes.length > 0) ctx.note('notes', notes);
}

/** Adds the attempts of a run to those of their providers; skipped ones do not count. */
function countAttempts(attempts: ForwardState['attempts'] = [], { states }: Services): void {
  for (const { provider, status = 0, failure } of attempts) {
    if (failure?.startsWith(PASSED_OVER) === true) continue;
    states
      .get(provider)
      ?.attemptCounts.ended(failure !== undefined || REFUSES.has(status) || status > 499);
  }
}

/**
 * Answers that are relayed unchanged but are refusals: no key, no credit, no permission, too many
 * requests.
 */
const REFUSES: ReadonlySet<number> = new Set([401, 402, 403, 429]);

/**
 * Answers `request`. Throws PROVIDER_001 to _004, TIMEOUT_001, RATELIMIT_002 and `circuit_open` if
 * no provider can, and `bad_request` if none may.
 */
export const forward = defineStage<ProxyFrame, ForwardConfig, Services>({
  name: 'forward',
  answers: true,
  build(config, services) {
    const learned: Learned = {
      chatOnly: new Set(),
      unsupported: createKnownUnsupported(),
      foreign: createForeignThoughts(),
      logOmissions: createOmissionLog(services.log),
    };
    return {
      open: (): ForwardState => ({
        attempts: undefined,
        notes: [],
        caching: undefined,
        live: undefined,
        sent: undefined,
        servedNode: undefined,
        release: undefined,
      }),
      on: {
        request({ request }, ctx) {
          if (request.original.facts.stream) ctx.state.release = claimStreamSlot(services);
          return answer(request, config, services, learned, ctx);
        },
        chunk: (chunk, { state }) => (state as ForwardState).live?.chunk?.(chunk),
        end(end, { state, run }) {
          const own = state as ForwardState;
          own.servedNode?.recordAnswerEnd(run.clock.monotonicMs());
          own.servedNode = undefined;
          return own.live?.end?.(end);
        },
      },
      settled({ error, durationMs }, ctx) {
        const own = ctx.state as ForwardState | undefined;
        if (own === undefined) return;
        // A failure elsewhere is not the provider's.
        if (error !== undefined && error.node === ctx.node) own.live?.watch.failed(error);
        else own.live?.watch.abandoned();
        // Of an answer that broke off.
        own.servedNode?.recordAnswerEnd(ctx.run.startedMs + durationMs);
        report(own, ctx);
        if (error?.kind !== 'cancelled') countAttempts(own.attempts, services);
        own.release?.();
      },
    };
  },
});
