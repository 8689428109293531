/** Sends the request to its provider and answers with what comes back. */
import { SvcError, defineStage } from '../../engine/index.ts';
import type { Answer, StageContext } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import { overloaded } from '../model/errors.ts';
import { END } from '../model/frame.ts';
import type { HeadFrame, ProxyFrame } from '../model/frame.ts';
import { connectionNamed, headerValue, isHopByHop, withoutHeaders } from '../model/headers.ts';
import { modelOf } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import type { Provider, ProviderKey } from '../providers/provider.ts';
import type { UpstreamResponse } from '../providers/upstream.ts';
import type { Services } from '../services.ts';
import { gather, isBodiless, isDocument, stream } from './answer.ts';
import type { ForwardConfig } from './config.ts';
import { toUpstreamRequest } from './outgoing.ts';
import { askForUsage, createUsageChunkFilter, mustAskForUsage } from './usage-chunk.ts';

/** The place that a stream holds until its run has settled. */
interface Held {
  release: (() => void) | undefined;
}

function claim(services: Services): () => void {
  const release = services.streams.acquire();
  if (release === undefined)
    throw overloaded('As many streams run as streaming.max_concurrent_streams allows');
  return release;
}

interface Try {
  readonly request: ProxyRequest;
  readonly provider: Provider;
  readonly key: ProviderKey | undefined;
  /** True if we asked for a usage chunk that the client did not ask for. */
  readonly asked: boolean;
}

function prepare(request: ProxyRequest, services: Services): Try {
  const route = request.route;
  const provider = route && services.providers.get(route.provider);
  if (route === undefined || provider === undefined) {
    throw new SvcError('internal', 'The request reached the provider stage without a route');
  }
  const asked = mustAskForUsage(request);
  return {
    request: asked ? askForUsage(request) : request,
    provider,
    key: route.credential === 'configured' ? provider.keys[0] : undefined,
    asked,
  };
}

function toHead(attempt: Attempt, tried: Try, response: UpstreamResponse): HeadFrame {
  const named = connectionNamed(response.headers);
  const type = headerValue(response.headers, 'content-type')?.toLowerCase() ?? '';
  const headers = withoutHeaders(
    response.headers,
    (name) =>
      isHopByHop(name) || named?.has(name) === true || (tried.asked && name === 'content-length'),
  );
  return Object.freeze({
    kind: 'head',
    status: response.status,
    headers,
    request: tried.request,
    attempts: [attempt],
    streaming: type.startsWith('text/event-stream'),
  });
}

function toAnswer(
  head: HeadFrame,
  response: UpstreamResponse,
  asked: boolean,
): Answer<ProxyFrame> | Promise<Answer<ProxyFrame>> {
  if (isBodiless(response.status, head.request.original.body.method)) return [head, END];
  if (isDocument(head)) return gather(head, response.body);
  const encoded = headerValue(response.headers, 'content-encoding') ?? 'identity';
  const filtered = asked && head.streaming && encoded === 'identity';
  return stream(head, response.body, { filter: filtered ? createUsageChunkFilter() : undefined });
}

async function attempt(
  tried: Try,
  config: ForwardConfig,
  services: Services,
  ctx: StageContext<Held>,
): Promise<Answer<ProxyFrame>> {
  const { clock, startedMs, signal } = ctx.run;
  const { provider, request, key } = tried;
  const identity = config.needsEvents || tried.asked;
  const model = modelOf(request);
  const beganMs = clock.monotonicMs() - startedMs;
  ctx.note('provider', provider.name);
  try {
    const response = await services.upstream.send(
      toUpstreamRequest(request, provider, { identity, key, signal }),
    );
    const headMs = clock.monotonicMs() - startedMs;
    const done: Attempt = {
      provider: provider.name,
      model,
      startedMs: beganMs,
      headMs,
      status: response.status,
      failure: undefined,
    };
    return await toAnswer(toHead(done, tried, response), response, tried.asked);
  } catch (thrown) {
    const failure = thrown instanceof Error ? thrown.message : 'unknown';
    ctx.note('attempts', [{ provider: provider.name, status: null, failure }]);
    throw thrown;
  }
}

/** Answers `request`. Throws PROVIDER_003 and TIMEOUT_001, and `bad_gateway` for a document that breaks off. */
export const forward = defineStage<ProxyFrame, ForwardConfig, Services>({
  name: 'forward',
  traceAs: 'upstream_forward',
  answers: true,
  build: (config, services) => ({
    open: (): Held => ({ release: undefined }),
    on: {
      request({ request }, ctx) {
        if (request.original.facts.stream) ctx.state.release = claim(services);
        return attempt(prepare(request, services), config, services, ctx);
      },
    },
    settled: (_settlement, ctx) => ctx.state?.release?.(),
  }),
});
