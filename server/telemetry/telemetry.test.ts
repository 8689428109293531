import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestProxy, withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, exchange, json } from '../../fixtures/server/exchange.ts';
import { until } from '../../fixtures/wait.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const SECRET = 'nobody may read this prompt';

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number;
}
interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
}
interface Traces {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** Starts an OTLP/HTTP collector that stores what it receives, by path. */
async function startCollector() {
  const texts: { path: string; type: string; text: string }[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { url = '', headers } = request;
      const text = Buffer.concat(pieces).toString();
      texts.push({ path: url, type: headers['content-type'] ?? '', text });
      response.setHeader('Content-Type', 'application/json');
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    texts,
    endpoint: `http://127.0.0.1:${port}`,
    of: (path: string) => texts.filter((text) => text.path === path).map(({ text }) => text),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const valueOf = ({ attributes }: Span, name: string): unknown => {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue;
};

const requestWith = (headers: Readonly<Record<string, string>> = {}) => ({
  headers,
  body: json(MESSAGE, { messages: [{ role: 'user', content: SECRET }] }),
});

test("spans and measurements reach a collector as parts of the client's trace", async () => {
  const collector = await startCollector();
  const t = await startTestProxy({
    yaml: `telemetry: {enabled: true, endpoint: '${collector.endpoint}/'}`,
  });
  const file = join(dirname(t.db), 'telemetry.jsonl');
  let lines: string[];
  let upstream: string[];
  try {
    const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;
    await exchange(t.proxy.port, requestWith({ traceparent, tracestate: 'a=b' }));
    await exchange(t.proxy.port, requestWith({ traceparent: 'nonsense' }));
    await t.rows(2);
    upstream = t.upstream.requests.map((received) => String(received.header('traceparent')));
    assert.is(t.upstream.requests[0]?.header('tracestate'), 'a=b');
    await t.proxy.stop(true);
    lines = readFileSync(file, 'utf8').trim().split('\n');
  } finally {
    await t.close();
    await collector.close();
  }
  const spans = collector
    .of('/v1/traces')
    .flatMap((text) => (JSON.parse(text) as Traces).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap((scope) => scope.spans);
  const ours = spans.filter(({ traceId }) => traceId === TRACE_ID);
  const [request] = ours.filter(({ parentSpanId }) => parentSpanId === PARENT_ID);
  assert.ok(request);
  assert.is(request.name, 'chat claude-fixture-1');
  assert.is(request.kind, 2, 'a server span');
  assert.is(valueOf(request, 'gen_ai.operation.name'), 'chat');
  assert.is(valueOf(request, 'gen_ai.provider.name'), 'anthropic');
  assert.is(valueOf(request, 'gen_ai.request.model'), 'claude-fixture-1');
  assert.type(valueOf(request, 'gen_ai.usage.input_tokens'), 'number');
  assert.type(valueOf(request, 'gen_ai.usage.output_tokens'), 'number');
  assert.ok(BigInt(request.endTimeUnixNano) >= BigInt(request.startTimeUnixNano));
  const children = ours.filter(({ parentSpanId }) => parentSpanId === request.spanId);
  assert.is(children.length, ours.length - 1, 'every other span is a child of it');
  const names = children.map(({ name }) => name);
  for (const name of ['svc compress', 'svc forward', 'chat claude-fixture-1'])
    assert.ok(names.includes(name), `${name} is among ${names.join()}`);
  assert.is(new Set(ours.map(({ spanId }) => spanId)).size, ours.length);
  assert.is(upstream[0], `00-${TRACE_ID}-${request.spanId}-01`);
  assert.match(upstream[1]!, /^00-(?!0+-)[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  const fresh = spans.filter(({ traceId }) => upstream[1]?.includes(traceId));
  assert.is(fresh.filter(({ parentSpanId }) => !parentSpanId).length, 1);

  const metrics = collector.of('/v1/metrics').join('\n');
  for (const name of ['gen_ai.client.token.usage', 'gen_ai.client.operation.duration'])
    assert.ok(metrics.includes(`"name":"${name}"`), name);

  const written = lines.map((line) => JSON.parse(line) as { type: string; spanId?: string });
  assert.equal(
    written.flatMap(({ spanId }) => spanId ?? []).toSorted(),
    spans.map(({ spanId }) => spanId).toSorted(),
  );
  assert.is(written.filter(({ type }) => type === 'measurement').length, 2);
  const everything = [...lines, ...collector.texts.map(({ text }) => text)].join('\n');
  assert.not.ok(everything.includes(SECRET), 'no contents');
});

test('an unreachable collector is reported once and delays no request', () =>
  withProxy({ yaml: 'telemetry: {enabled: true, endpoint: "http://127.0.0.1:9"}' }, async (t) => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => exchange(t.proxy.port, requestWith())),
    );
    assert.ok(responses.every(({ status }) => status === 200));
    const log = join(dirname(t.db), 'logs', 'svc.log');
    const reported = () =>
      existsSync(log) ? readFileSync(log, 'utf8').split('telemetry cannot be sent').length - 1 : 0;
    await t.rows(20);
    await until('a report of the failure', () => reported() > 0);
    await exchange(t.proxy.port, requestWith());
    await t.proxy.stop(true);
    assert.is(reported(), 1);
  }));

test.run();
