/** A proxy before two providers of the fake kind: the one that misbehaves, and one to fall back to. */
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import * as assert from 'uvu/assert';
import { startTestProxy } from '../../fixtures/proxy.ts';
import type { ProxyOptions, TestProxy } from '../../fixtures/proxy.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import type { Upstream } from '../../fixtures/upstream.ts';
import { CHAT, MESSAGE, exchange, json, readAnswer } from '../../server/testing.ts';
import type { Answered } from '../../server/testing.ts';
import type { Trace } from '../ledger/traces.ts';

/** The two dialects that the tables are about. */
export type Spoken = 'messages' | 'chat';

/** A proxy with the provider `spare` beside the built-in ones. */
export interface Pair extends TestProxy {
  readonly spare: Upstream;
  /** Makes every provider healthy again and closes its breaker. */
  recover(): void;
}

export interface PairOptions extends Omit<ProxyOptions, 'yaml'> {
  /** The config file, given where the spare provider is. */
  readonly yaml: (spareUrl: string) => string;
}

/** A config in which `spare` of `kind` stands in for the others; undefined for none. */
export function withSpare(kind: Spoken | 'generative' | undefined, more = ''): PairOptions['yaml'] {
  if (kind === undefined) return () => more;
  return (url) => `${more}
  spare: { kind: ${kind}, base_url: "${url}", api_key: spare-key }
fallback: [spare]
`;
}

export async function withPair(
  { yaml, ...options }: PairOptions,
  use: (pair: Pair) => Promise<void>,
): Promise<void> {
  const spare = await startUpstream(options.upstream);
  let test: TestProxy | undefined;
  try {
    test = await startTestProxy({ ...options, yaml: yaml(spare.url) });
    const { states } = test.proxy.services;
    await use({
      ...test,
      spare,
      recover() {
        for (const name of states.view().keys()) states.forceHealth(name, 'healthy');
      },
    });
  } finally {
    await test?.close();
    await spare.close();
  }
}

export const PATHS = { messages: '/v1/messages', chat: '/v1/chat/completions' } as const;

/** A small request that asks for its usage itself, so that nothing of it must be changed. */
export function bodyOf(dialect: Spoken, stream: boolean, more: object = {}): string {
  const usage = dialect === 'chat' && stream ? { stream_options: { include_usage: true } } : {};
  const streaming = stream ? { stream: true, ...usage } : {};
  return json(dialect === 'messages' ? MESSAGE : CHAT, { ...streaming, ...more });
}

/** The client's own key in the field of its dialect. */
export function ownKey(dialect: Spoken): Record<string, string> {
  return dialect === 'messages' ? { 'x-api-key': 'mine' } : { authorization: 'Bearer mine' };
}

/** What a provider answers without the proxy, over a connection that nobody else has used. */
export async function direct(
  { port }: Upstream,
  { path, body }: { readonly path: string; readonly body: string },
): Promise<Answered> {
  const headers = { 'content-type': 'application/json', connection: 'close' };
  const sent = request({ agent: false, host: '127.0.0.1', port, path, method: 'POST', headers });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    // What comes behind the answer is not part of it, and no longer rejects anything.
    sent.on('response', resolve).on('error', reject);
  });
  sent.end(body);
  return readAnswer(await answered);
}

/** The trace of an answer, by its id. */
export async function traceOf(t: TestProxy, answer: Answered): Promise<Trace> {
  const { headers } = answer;
  const id = String(headers['x-svc-request-id'] ?? headers['x-request-id']);
  // The run settles a moment after its last byte.
  for (let left = 200; left > 0; left -= 1) {
    const got = await exchange(t.proxy.port, { method: 'GET', path: `/trace/${id}` });
    if (got.status === 200) return JSON.parse(got.text) as Trace;
    await pause(2);
  }
  throw new Error(`no trace ${id}`);
}

/** The payloads of a stream's events, parsed; `[DONE]` is left out. */
export function payloads(text: string): Record<string, unknown>[] {
  return [...text.matchAll(/^data: ?(\{.*)$/gm)].map(
    (match) => JSON.parse(match[1]!) as Record<string, unknown>,
  );
}

interface Said {
  readonly type?: string;
  readonly delta?: { readonly text?: string; readonly content?: string };
  readonly message?: { readonly content?: string };
}

/** The text that an answer says. */
export function saidBy(dialect: Spoken, stream: boolean, text: string): string {
  if (!stream) {
    const whole = JSON.parse(text) as {
      content?: { text?: string }[];
      choices?: { message: { content: string } }[];
    };
    return dialect === 'messages'
      ? (whole.content ?? []).map((block) => block.text ?? '').join('')
      : (whole.choices?.[0]?.message.content ?? '');
  }
  return payloads(text)
    .map((payload) => {
      if (dialect === 'messages') return (payload as Said).delta?.text ?? '';
      const choices = (payload['choices'] ?? []) as Said[];
      return choices[0]?.delta?.content ?? '';
    })
    .join('');
}

/** Asserts that a stream is whole by the words of its dialect, and begins once. */
export function expectComplete(dialect: Spoken, text: string, name: string): void {
  if (dialect === 'messages') {
    assert.is(text.split('event: message_start\n').length, 2, `${name}: one beginning`);
    assert.is(text.split('event: message_stop\n').length, 2, `${name}: one end`);
    assert.not.match(text, 'event: error');
  } else {
    assert.is(text.split('data: [DONE]').length, 2, `${name}: one end`);
    assert.is(text.split('"role":"assistant"').length, 2, `${name}: one beginning`);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
