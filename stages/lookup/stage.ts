/**
 * Answers from the response cache if a request declares itself deterministic, and lets identical
 * requests in flight share one answer.
 */
import { defineStage, streamOf, toSvcError } from '../../engine/index.ts';
import type { Answer, CancelSignal, StageContext } from '../../engine/index.ts';
import type { KeptAnswer } from '../answers/answer.ts';
import { isSeat } from '../answers/flights.ts';
import type { LeaderSeat } from '../answers/flights.ts';
import { answerKey, mayKeep } from '../answers/key.ts';
import { END, toChunk } from '../model/frame.ts';
import type { HeadFrame, ProxyFrame, RequestFrame } from '../model/frame.ts';
import { KEY_FIELDS, headerValue, isCredentialField, withoutHeaders } from '../model/headers.ts';
import { render } from '../wire/render.ts';
import { isRewritable, targetOf, withReport } from '../model/request.ts';
import type { ProxyRequest, RouteTarget } from '../model/request.ts';
import type { Provider } from '../providers/provider.ts';
import type { Services } from '../services.ts';

export interface LookupConfig {
  readonly enabled: boolean;
  /**
   * A value unique to this proxy, if it must not share cached responses with other proxies; by
   * default it may.
   */
  readonly proxyScope?: string;
}

const isOurs = (name: string): boolean => name.startsWith('x-svc-') || KEY_FIELDS.includes(name);

/** For alternating names and values: names in lower case. */
const lowerName = (text: string, index: number): string =>
  index % 2 === 0 ? text.toLowerCase() : text;

/** Identifies the owner of the answers: they are never given to another one. */
function credentialOf(request: ProxyRequest, provider: Provider | undefined): string {
  const { headers, target } = request.original.body;
  const own = KEY_FIELDS.map((name) => headerValue(headers, name) ?? '');
  const inQuery = /[?&]key=([^&]*)/.exec(target)?.[1] ?? '';
  const credential = request.route?.targets[0]?.credential ?? 'none';
  const owner =
    credential === 'client' ? [...own, inQuery].join('\n') : ourCredential(credential, provider);
  // A credential for a gateway in front of the provider identifies the owner as well.
  const others = withoutHeaders(headers, (name) => isOurs(name) || !isCredentialField(name));
  return others.length === 0 ? owner : [owner, ...others.map(lowerName)].join('\n');
}

/**
 * Answers outlive the process and may be shared with others: the configured keys are part of the
 * owner.
 */
function ourCredential(credential: string, provider: Provider | undefined): string {
  if (credential !== 'configured' || provider === undefined) return credential;
  return [
    credential,
    ...provider.keys.map(({ scheme, secret }) => `${scheme} ${secret}`).toSorted(),
  ].join('\n');
}

/** Returns what the provider's configuration changes in an outgoing body. */
function changesOf(target: RouteTarget | undefined, provider: Provider | undefined): string {
  if (target === undefined || provider === undefined) return '';
  const { place, modelAliases, extraBody, headers, hooks } = provider;
  const requestedModel = target.model ?? '';
  return JSON.stringify([
    place,
    requestedModel,
    [...modelAliases],
    [...extraBody],
    headers,
    hooks?.version,
  ]);
}

function keyOf(request: ProxyRequest, services: Services, proxyScope = ''): string {
  const target = request.route?.targets[0];
  const provider = services.providers.get(target?.provider ?? '');
  return answerKey({
    credential: credentialOf(request, provider),
    provider: `${target?.provider ?? ''}\n${changesOf(target, provider)}${proxyScope}`,
    path: targetOf(request),
    headers: request.original.body.headers,
    body: render(request).bytes,
  });
}

/** Returns a cached response in its original pieces; one that was a stream is a stream again. */
function toAnswer(kept: KeptAnswer, request: ProxyRequest): Answer<ProxyFrame> {
  const { usage } = kept;
  const head: HeadFrame = Object.freeze({
    kind: 'head',
    status: kept.status,
    headers: [...kept.headers, 'X-Svc-Cache', 'hit'],
    request: withReport(request, { cacheHit: true }),
    attempts: [],
    streaming: kept.streaming,
    ...(usage && { usage: () => usage }),
  });
  const frames: ProxyFrame[] = [head, ...kept.chunks.map((bytes) => toChunk(bytes)), END];
  return kept.streaming ? streamOf(frames) : frames;
}

async function lookUp(
  request: ProxyRequest,
  services: Services,
  ctx: StageContext,
  proxyScope: string | undefined,
): Promise<Answer<ProxyFrame> | RequestFrame> {
  const key = keyOf(request, services, proxyScope);
  const cached = await services.answers.store.get(key);
  if (cached !== undefined) {
    ctx.note('cache', 'hit');
    return toAnswer(cached, request);
  }
  const { signal } = ctx.run;
  // A request that joins must finish its flight, and a run that has already ended never would.
  if (signal.aborted) throw toSvcError(signal.reason);
  const seat = services.answers.flights.board(key);
  const fromLeader = seat.role === 'leader' ? seat : await seat.answer(signal);
  if (fromLeader === undefined || isSeat(fromLeader)) {
    ctx.note('cache', 'miss');
    return toKeep(request, key, fromLeader, signal);
  }
  ctx.note('cache', 'shared');
  return toAnswer(fromLeader, request);
}

/**
 * Returns the request with the place of its answer, which also reaches waiting requests if it has
 * the leader's seat.
 */
function toKeep(
  request: ProxyRequest,
  key: string,
  seat: LeaderSeat | undefined,
  signal: CancelSignal,
): RequestFrame {
  if (seat !== undefined) {
    signal.addEventListener('abort', () => seat.leave(), { once: true });
    // It may have received the seat at the moment its client left.
    if (signal.aborted) seat.leave();
  }
  const cache = { key, land: (answer: KeptAnswer | undefined) => seat?.land(answer) };
  return Object.freeze({ kind: 'request', request: withReport(request, { cache }) });
}

/**
 * Answers `request` on a hit; on a miss the request continues and carries the place for its answer.
 */
export const lookup = defineStage<ProxyFrame, LookupConfig, Services>({
  name: 'lookup',
  answers: true,
  build: (config, services) => ({
    on: {
      request({ request }, ctx) {
        const { endpoint, body, json } = request.original;
        if (!config.enabled || endpoint.operation !== 'generate' || !isRewritable(request))
          return undefined;
        if (!mayKeep(body.headers, json)) return undefined;
        return lookUp(request, services, ctx, config.proxyScope);
      },
    },
  }),
});
