/**
 * Every wire fixture through a real proxy: the bytes in both directions are the same on both
 * sides, however the upstream's output is cut, and the ledger row matches the case.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { request as onRequest } from '../../../fixtures/upstream.ts';
import type { Scenario } from '../../../fixtures/upstream.ts';
import { loadWireRequests, loadWireResponses } from '../../../fixtures/wire.ts';
import type { WireResponse } from '../../../fixtures/wire.ts';
import type { LedgerRow } from '../../../stages/ledger/row.ts';
import { CHAT, MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';

type Case = WireResponse & { readonly bytes: Buffer };
type Framing = 'length' | 'chunked' | 'close';

const BODIES: Readonly<Record<string, object>> = {
  messages: MESSAGE,
  chat: { ...CHAT, stream_options: { include_usage: true } },
  responses: { model: 'gpt-fixture-1', input: 'hello' },
  generative: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
  completions: { model: 'gpt-fixture-1', prompt: 'hello' },
};

/** Plays the case's bytes in pieces of `sizes` bytes, used in turn. */
function play(wire: Case, framing: Framing, sizes: readonly number[]): Scenario {
  return onRequest(async (connection) => {
    const fields = {
      length: `Content-Length: ${wire.bytes.length}\r\n`,
      chunked: 'Transfer-Encoding: chunked\r\n',
      close: 'Connection: close\r\n',
    };
    await connection.write(
      `HTTP/1.1 ${wire.status} X\r\nContent-Type: ${wire.contentType}\r\n${fields[framing]}\r\n`,
    );
    let at = 0;
    for (let i = 0; at < wire.bytes.length; i += 1) {
      const piece = wire.bytes.subarray(at, at + sizes[i % sizes.length]!);
      at += piece.length;
      const size = Buffer.from(`${piece.length.toString(16)}\r\n`);
      await connection.write(
        framing === 'chunked' ? Buffer.concat([size, piece, Buffer.from('\r\n')]) : piece,
      );
      await connection.wait(0);
    }
    if (framing === 'chunked') await connection.write('0\r\n\r\n');
    if (framing === 'close') connection.close();
  });
}

function bodyFor(wire: Case): string {
  const streams = wire.streaming && wire.dialect !== 'generative';
  return json(BODIES[wire.dialect]!, streams ? { stream: true } : {});
}

/** True for a stream that ends in the middle of its answer and does not say why. */
function isCut({ streaming, status, facts }: Case): boolean {
  return (
    streaming && status < 400 && !facts.complete && facts.stop === null && facts.error === null
  );
}

/** Asserts that a cut stream consists of its whole events and an error event. */
function expectCut(bytes: Buffer, text: string, name: string): void {
  const printed = bytes.toString();
  const blank = /^[^]*(?:\n\n|\r\n\r\n)/.exec(printed)?.[0] ?? '';
  assert.is(text.slice(0, blank.length), blank, `${name}: bytes differ`);
  assert.match(text.slice(blank.length), /ended in the middle of its answer[^\n]*\n\n$/, name);
}

async function bytesArrive(t: TestProxy, wire: Case, framing: Framing, sizes: number[]) {
  const stop = t.upstream.script(undefined, play(wire, framing, sizes));
  // With the client's own key, refusals are passed through unchanged too.
  const sent = { path: wire.path, body: bodyFor(wire), headers: { 'x-api-key': 'mine' } };
  const name = `${wire.file}, ${framing}, pieces of ${sizes.join()}`;
  if (isCut(wire) && framing === 'length') {
    // With a declared length there is no room for an error event; with all its bytes the response
    // would look whole.
    const isWhole = await exchange(t.proxy.port, sent).then(
      ({ whole }) => whole,
      () => false,
    );
    stop();
    assert.not.ok(isWhole, name);
    return t.upstream.requests.at(-1)!.body.equals(Buffer.from(sent.body));
  }
  const response = await exchange(t.proxy.port, sent);
  stop();
  assert.is(response.status, wire.status, name);
  assert.is(response.headers['content-type'], wire.contentType, name);
  assert.ok(response.whole, `${name}: the answer is whole`);
  if (isCut(wire)) expectCut(wire.bytes, response.text, name);
  else assert.ok(response.body.equals(wire.bytes), `${name}: bytes differ`);
  return t.upstream.requests.at(-1)!.body.equals(Buffer.from(sent.body));
}

function expectRow(row: LedgerRow, wire: Case): void {
  const { usage, error, complete } = wire.facts;
  const cached = usage === null ? 0 : usage.cacheRead + usage.cacheWrite;
  if (row.usageEstimated) {
    // The stream broke off before the provider reported all usage: what it reported stays, the rest
    // is estimated.
    if (complete) {
      // The response was complete, but the provider reported no usage.
      assert.is(usage, null, wire.file);
      assert.ok(row.outputTokens! > 0 && row.inputTokensSent! > 0, wire.file);
      return;
    }
    assert.ok(row.outputTokens! > (usage?.output ?? 0), wire.file);
    if (usage === null) assert.ok(row.inputTokensRaw! > 0, wire.file);
    else assert.is(row.inputTokensRaw, usage.input + cached, wire.file);
  } else {
    assert.is(row.inputTokensRaw, usage === null ? null : usage.input + cached, wire.file);
    assert.is(row.outputTokens, usage === null ? null : usage.output, wire.file);
  }
  assert.is(row.cacheReadTokens ?? 0, usage?.cacheRead ?? 0, wire.file);
  assert.is(row.cacheWriteTokens ?? 0, usage?.cacheWrite ?? 0, wire.file);
  // A chat stream with a finish reason is complete, even without `[DONE]`.
  const failed = error !== null || (!complete && wire.streaming && wire.facts.stop === null);
  const bad = wire.status >= 400 ? 'error' : 'partial';
  assert.is(row.outcome, failed ? bad : 'ok', `${wire.file}: outcome`);
  assert.is(row.status, wire.status, wire.file);
}

test('every response arrives whole, with its usage in the ledger', () =>
  withProxy({}, async (t) => {
    const cases = loadWireResponses();
    for (const wire of cases) {
      assert.ok(await bytesArrive(t, wire, 'length', [wire.bytes.length]), 'request bytes');
    }
    const rows = await t.rows(cases.length);
    assert.is(rows.length, cases.length);
    for (const [i, wire] of cases.entries()) expectRow(rows[i]!, wire);
  }));

test('every response arrives whole in every framing, split at every byte', () =>
  withProxy({}, async (t) => {
    const cases = loadWireResponses();
    const played: Case[] = [];
    for (const wire of cases) {
      for (const framing of ['length', 'chunked', 'close'] as const) {
        const sizes = { length: [1], chunked: [17, 1, 5], close: [64, 3] };
        await bytesArrive(t, wire, framing, sizes[framing]);
        played.push(wire);
      }
    }
    const rows = await t.rows(played.length);
    assert.is(rows.length, played.length);
    for (const [i, wire] of played.entries()) expectRow(rows[i]!, wire);
  }));

test('every request arrives upstream unchanged', () =>
  withProxy({}, async (t) => {
    const cases = loadWireRequests();
    for (const wire of cases) {
      const response = await exchange(t.proxy.port, { path: wire.path, body: wire.bytes });
      assert.is(response.status, 200, `${wire.file}: ${response.text}`);
      const forwarded = t.upstream.requests.at(-1)!;
      assert.is(forwarded.target, wire.path);
      const request =
        wire.dialect === 'chat' && wire.streaming && !wire.bytes.includes('include_usage');
      if (request) assert.ok(forwarded.body.includes('"include_usage":true'), wire.file);
      else assert.ok(forwarded.body.equals(wire.bytes), `${wire.file}: bytes differ`);
    }
    const rows = await t.rows(cases.length);
    for (const [i, wire] of cases.entries()) {
      // The body of an endpoint that is never rewritten is not read.
      const isRead = wire.dialect !== 'completions';
      assert.is(rows[i]!.modelRequested, isRead ? wire.facts.model : null, wire.file);
      assert.is(rows[i]!.endpoint, wire.path.split('?')[0]);
    }
  }));

/**
 * Returns the case without its usage-only chunk, as seen by a client that did not request usage.
 */
function withoutUsageChunk(bytes: Buffer): Buffer {
  const events = bytes.toString('latin1').split(/(?<=\r?\n\r?\n)/);
  const kept = events.filter(
    (event) => !/"choices"\s*:\s*\[\s*\]/.test(event) || !/"usage"\s*:\s*\{/.test(event),
  );
  return Buffer.from(kept.join(''), 'latin1');
}

test('usage that only we requested is counted and removed', () =>
  withProxy({}, async (t) => {
    const cases = loadWireResponses('chat').filter((wire) => wire.streaming);
    let played = 0;
    let removed = 0;
    for (const wire of cases) {
      const printed = withoutUsageChunk(wire.bytes);
      if (printed.length < wire.bytes.length) removed += 1;
      for (const sizes of [[wire.bytes.length], [1], [13, 1, 40]]) {
        const stop = t.upstream.script(undefined, play(wire, 'chunked', sizes));
        const response = await exchange(t.proxy.port, {
          path: wire.path,
          body: json(CHAT, { stream: true }),
          headers: { 'x-api-key': 'mine' },
        });
        stop();
        played += 1;
        const name = `${wire.file} in pieces of ${sizes.join()}`;
        if (isCut(wire)) expectCut(printed, response.text, name);
        else assert.is(response.text, printed.toString(), name);
      }
    }
    assert.ok(removed > 3, 'some cases have such a chunk');
    const rows = await t.rows(played);
    for (const [i, row] of rows.entries()) expectRow(row, cases[Math.floor(i / 3)]!);
  }));

test.after(closeClients);
test.run();
