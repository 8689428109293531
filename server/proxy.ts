/**
 * Serves one proxied request over HTTP: collects the body, runs it through the plan, and lets the
 * sink write the response. Failures before the run get their response and ledger row here.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancelled, toSvcError } from '../engine/index.ts';
import type { Canceller, Plan, RunInfo, SvcError } from '../engine/index.ts';
import { dialects } from '../stages/dialect/registry.ts';
import type { Caller } from '../stages/model/caller.ts';
import type { Endpoint } from '../stages/model/endpoint.ts';
import type { BodyFrame } from '../stages/model/body.ts';
import type { ProxyFrame } from '../stages/model/frame.ts';
import type { Headers } from '../stages/model/headers.ts';
import { namedProject } from '../stages/model/project.ts';
import { decodeBody } from '../stages/wire/decode.ts';
import { encodingToUndo, toBodyFrame } from './http/body-frame.ts';
import { collectBody, expectsContinue } from './http/body.ts';
import { pathOf } from './gate/target.ts';
import { refuseOtherMedia } from './http/media-type.ts';
import { refusedRow } from './run/refused-row.ts';
import type { Generation } from './generation/generation.ts';
import type { ServerServices } from './services.ts';
import { runAndReport } from './run/run-and-report.ts';
import { HttpSink } from './sink/http.ts';
import { acceptsLines, createLineEncoding } from './sink/lines.ts';
import { createPace } from './sink/pace.ts';

export interface ProxyCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly endpoint: Endpoint;
  /** Path and query in origin form, and the headers, as admitted by the gate. */
  readonly target: string;
  readonly headers: Headers;
  /** The key of this proxy that the request carried. */
  readonly caller: Caller | undefined;
  readonly requestId: string;
  readonly generation: Generation;
  readonly services: ServerServices;
  readonly extraHeaders: readonly string[];
  /** True while `svc pause` is in force. */
  readonly paused: boolean;
  /** Controls the run; the caller may abort it with a reason. */
  readonly controller: Canceller;
}

/** Up to this size a body is compressed within a few milliseconds. */
const LONG_WORK_BYTES = 16 * 1024;

/** Serves the request. Resolves when its run has settled; never rejects. */
export async function proxy(call: ProxyCall): Promise<void> {
  const { request, response, controller, services } = call;
  const info: RunInfo = {
    id: call.requestId,
    clock: services.clock,
    startedWallMs: services.clock.wallMs(),
    startedMs: services.clock.monotonicMs(),
    signal: controller.signal,
  };
  // Not `once`, which creates two more objects: the event fires only once anyway.
  response.on('close', () => {
    // If the last write failed, node counts the response as finished without calling back: it
    // detaches the socket only from a response that was sent.
    const isSent = response.writableFinished && response.socket === null;
    if (!isSent) controller.abort(new Cancelled('client_gone'));
  });
  const sink = toSink(call);
  let body: BodyFrame;
  let plan: Plan<ProxyFrame>;
  try {
    const { maxProxiedRequestBytes } = call.generation.config.limits;
    refuseOtherMedia(call.endpoint, request.rawHeaders);
    const wireBytes = await collectBody(
      request,
      response,
      maxProxiedRequestBytes,
      services.inFlight,
      controller.signal,
    );
    const encoding = encodingToUndo(call.endpoint, request.headers['content-encoding']);
    const bytes =
      encoding === undefined
        ? wireBytes
        : await decodeBody(wireBytes, encoding, maxProxiedRequestBytes);
    const { method = 'GET' } = request;
    const { target, headers, endpoint, paused, caller, generation } = call;
    const received = { method, target, headers, endpoint, paused, caller };
    body = toBodyFrame(received, wireBytes, bytes, generation.config);
    plan = generation.planOf(body);
  } catch (thrown) {
    refuse(call, toSvcError(thrown), info, sink);
    return;
  }
  writeInterimResponse(call, body);
  await runAndReport(plan, body, info, sink, services);
  if (!request.complete) request.resume();
}

/**
 * `compression.http100_keepalive`: sends one more interim response before compression that leaves
 * the event loop, so that neither the client nor an intermediary takes the silence for a dead
 * connection. Only sent to a client that sent `Expect: 100-continue` (RFC 9110 §10.1.1): an
 * unexpected 100 is an error to undici, and Python's http.client takes any other 1xx for the final
 * response.
 */
function writeInterimResponse({ request, response, generation }: ProxyCall, body: BodyFrame): void {
  const { compression } = generation.config;
  if (!compression.http100Keepalive || !compression.enabled) return;
  const isWork = body.endpoint.rewritable && body.untouchable === undefined;
  if (isWork && body.bytes.length > LONG_WORK_BYTES && expectsContinue(request))
    response.writeContinue();
}

function toSink(call: ProxyCall): HttpSink {
  const { request, response, controller, requestId, generation, services } = call;
  const { streaming } = generation.config;
  const lines = acceptsLines(request.rawHeaders)
    ? streaming.formats.includes('chunked')
    : !streaming.formats.includes('sse');
  const paced = streaming.bufferTokens > 0;
  return new HttpSink({
    response,
    signal: controller.signal,
    requestId,
    dialect: dialects[call.endpoint.dialect],
    extraHeaders: call.extraHeaders,
    encode: lines ? createLineEncoding() : undefined,
    pace: paced ? createPace({ ...streaming, clock: services.clock }) : undefined,
  });
}

/** Rejects a request whose body could not be accepted, and writes its row. */
function refuse(call: ProxyCall, error: SvcError, info: RunInfo, sink: HttpSink): void {
  const { response, services } = call;
  const hasClientLeft = error.cause instanceof Cancelled || call.controller.signal.aborted;
  if (!hasClientLeft) {
    response.setHeader('Connection', 'close');
    sink.fail(error);
  }
  const refused = {
    id: info.id,
    startedMs: info.startedWallMs,
    endpoint: pathOf(call.target),
    node: services.node,
    keyLabel: call.caller?.label ?? null,
    project: namedProject(call),
    latencyMs: services.clock.monotonicMs() - info.startedMs,
  };
  services.ledger.record(refusedRow(refused, hasClientLeft ? undefined : error), error.message);
}
