/**
 * A test kit for provider authors: shows what their provider would send and how it would read an
 * answer, without a proxy and without a network. It uses the proxy's own code.
 */
import { streamOf, systemClock } from '../engine/index.ts';
import type { Clock } from '../engine/index.ts';
import { hookRequest, hookResponse } from '../stages/providers/hooks.ts';
import type { HookJson, HookOwner } from '../stages/providers/hooks.ts';
import { bodyOf } from '../stages/providers/response-body.ts';
import { readWhole } from '../stages/providers/upstream.ts';
import type { UpstreamResponse } from '../stages/providers/upstream.ts';
import { encodeEvent } from '../stages/wire/events.ts';
import { createSplitter } from '../stages/wire/events.ts';
import { checkDefinition } from './check.ts';
import type { HookedEvent, HookedRequest } from '../stages/providers/hooks.ts';
import type { ProviderDefinition } from './provider.ts';

/** The test calls. Each throws what would fail the attempt in a proxy. */
export interface ProviderTest {
  /** Returns the request as it would be sent; the path without the provider's prefix. */
  sends(body: HookJson, request?: Partial<Omit<HookedRequest, 'body'>>): HookedRequest;
  /** Returns a document as the proxy would read it. */
  answers(body: HookJson, status?: number): Promise<HookJson>;
  /** Returns a stream's events as the proxy would read them. */
  streams(events: readonly HookedEvent[]): Promise<HookedEvent[]>;
}

const PATHS = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  generative: '/v1beta/models/model:generateContent',
} as const;

/**
 * Tests a definition. Throws an `Error` that lists every fault of an invalid one. `clock` times the
 * hooks.
 */
export function testProvider(
  definition: ProviderDefinition,
  clock: Clock = systemClock,
): ProviderTest {
  const checked = checkDefinition(definition);
  if (!checked.ok) throw new Error(checked.faults.join('; '));
  const { name = 'provider', request, response, event, kind } = definition;
  const hooks = {
    ...(request && { request }),
    ...(response && { response }),
    ...(event && { event }),
  };
  const owner: HookOwner = { name, hooks, clock };
  return {
    sends(body, { path = PATHS[kind], headers = {} } = {}) {
      const wire = hookRequest(owner, toWire(path, headers), () => structuredClone(body));
      const sent: unknown = wire.body?.length ? JSON.parse(wire.body.toString()) : body;
      return { path: wire.path, headers: toRecord(wire.headers), body: sent };
    },
    async answers(body, status = 200) {
      const bytes = Buffer.from(JSON.stringify(body));
      const read = await readAll(hookResponse(owner, toAnswer('application/json', bytes, status)));
      return JSON.parse(read.toString());
    },
    async streams(events) {
      const bytes = Buffer.concat(
        events.map((each) => encodeEvent(each.event, JSON.stringify(each.data))),
      );
      const read = await readAll(hookResponse(owner, toAnswer('text/event-stream', bytes, 200)));
      return createSplitter().push(read).flatMap(toEvent);
    },
  };
}

function toWire(path: string, headers: Readonly<Record<string, string>>) {
  return {
    origin: 'http://127.0.0.1',
    path,
    method: 'POST',
    headers: Object.entries(headers).flat(),
    body: Buffer.alloc(0),
    headTimeoutMs: 0,
    idleTimeoutMs: 0,
    signal: new AbortController().signal,
  };
}

function toAnswer(type: string, bytes: Buffer, status: number): UpstreamResponse {
  return { status, headers: ['content-type', type], body: bodyOf(streamOf([bytes])) };
}

async function readAll({ body }: UpstreamResponse): Promise<Buffer> {
  return (await readWhole(body, Infinity)) ?? Buffer.alloc(0);
}

function toEvent({ event, data }: { event: string | undefined; data: string | undefined }) {
  if (data === undefined) return [];
  return [{ ...(event === undefined ? {} : { event }), data: JSON.parse(data) }];
}

function toRecord(headers: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i + 1 < headers.length; i += 2)
    record[headers[i]!.toLowerCase()] = headers[i + 1]!;
  return record;
}
