/**
 * A thousand shapes of usage in four dialects, whole, streamed and cancelled, compared with an
 * independent calculation from the published price tables: each within 0.1 %, and none silently too
 * cheap.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServerResponse } from 'node:http';
import { SHAPES } from '../../../fixtures/money/shapes.ts';
import type { Shape, ResponseForm } from '../../../fixtures/money/shapes.ts';
import { toEvent, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { closeClients, openResponse } from '../../../fixtures/server/exchange.ts';

const COUNT = 1000;
/** Writes the response; one that will be cancelled stays open before its last event. */
function send(
  answered: ServerResponse,
  { document, events, headers }: Shape,
  way: ResponseForm,
): void {
  if (way === 'whole') {
    answered.writeHead(200, { 'content-type': 'application/json', ...headers });
    answered.end(JSON.stringify(document));
    return;
  }
  answered.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  const shown = way === 'cancelled' ? events.slice(0, -1) : events;
  for (const event of shown) answered.write(toEvent(event));
  if (way === 'streamed') answered.end();
}

/**
 * Reads the response; one that will be cancelled is read as far as it is sent, and then left.
 * Returns the request's id.
 */
async function readShape(
  port: number,
  { path, body, events }: Shape,
  way: ResponseForm,
): Promise<string> {
  const leave = new AbortController();
  const message = await openResponse(port, { path, body, signal: leave.signal });
  const lastShown = toEvent(events.at(-2) ?? '')
    .trimEnd()
    .slice(-40);
  let text = '';
  try {
    for await (const piece of message) {
      text += String(piece);
      if (way === 'cancelled' && text.includes(lastShown)) leave.abort();
    }
  } catch (error) {
    if (!leave.signal.aborted) throw error;
  }
  return String(message.headers['x-svc-request-id']);
}

test(`${COUNT} shapes of usage are priced as in the published tables`, () =>
  withPlainUpstream({}, async (t, upstream) => {
    const names = Object.keys(SHAPES) as (keyof typeof SHAPES)[];
    const ways: readonly ResponseForm[] = ['whole', 'streamed', 'cancelled'];
    const made: { shape: Shape; way: ResponseForm; name: string }[] = [];
    for (let at = 0; at < COUNT; at++) {
      const name = names[at % names.length]!;
      const way = ways[Math.floor(at / names.length) % ways.length]!;
      made.push({ shape: SHAPES[name](way), way, name });
    }
    const ids: string[] = [];
    for (const { shape, way } of made) {
      upstream.answer((response) => send(response, shape, way));
      ids.push(await readShape(t.proxy.port, shape, way));
    }
    const rows = await t.rows(COUNT);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const off: string[] = [];
    let [unpriced, cancelled] = [0, 0];
    for (const [index, { shape, way, name }] of made.entries()) {
      const row = byId.get(ids[index]!)!;
      const tokens = way === 'cancelled' ? (row.outputTokens ?? 0) : shape.output;
      const expected = shape.dollars(tokens, row.inputTokensSent ?? 0);
      if (way === 'cancelled')
        assert.ok(tokens > 0 && row.inputTokensSent! > 0, `${index} is counted`);
      const found = row.costNanoUsd === null ? undefined : row.costNanoUsd / 1e9;
      if (way === 'cancelled' && row.outcome === 'cancelled') cancelled += 1;
      if (expected === undefined) unpriced += 1;
      const isRight =
        expected === undefined || found === undefined
          ? expected === found
          : Math.abs(found - expected) <= expected * 0.001 + 1e-9;
      if (!isRight)
        off.push(
          `${index} ${name} ${way}: ${found} for ${expected}: ${JSON.stringify(shape.document)}`,
        );
    }
    assert.is(rows.length, COUNT);
    assert.equal(off.slice(0, 3), [], `${off.length} of ${COUNT} are off`);
    assert.ok(unpriced > 100 && unpriced < 600, `${unpriced} without a price`);
    assert.ok(cancelled > 100, `${cancelled} cancelled`);
  }));

test.after(closeClients);
test.run();
