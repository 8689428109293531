import type { ServerResponse } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withPlainUpstream } from '../../fixtures/plain-upstream.ts';
import { MAX_PIPELINED } from './pipelining.ts';
import { MESSAGE, json, sendRaw } from '../../fixtures/server/exchange.ts';

const REQUESTS = 60;
/** Long enough for one more request to arrive, if one were sent. */
const ONE_MORE_MS = 50;

test('at most sixteen pipelined requests run at a time, and all are answered in order', () =>
  withPlainUpstream({}, async ({ proxy }, upstream) => {
    const held: (() => void)[] = [];
    let answered = 0;
    let max = 0;
    const release = (): void => {
      for (const answer of held.splice(0)) answer();
    };
    upstream.answer((response: ServerResponse, request) => {
      held.push(() => {
        answered += 1;
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ number: Number(request.url?.split('n=')[1]) }));
      });
      max = Math.max(max, held.length);
      const isAll = answered + held.length === REQUESTS;
      if (held.length === MAX_PIPELINED || isAll) setTimeout(release, ONE_MORE_MS);
    });
    const body = json(MESSAGE, {});
    const requests = Array.from({ length: REQUESTS }, (_, n) => {
      const last = n === REQUESTS - 1 ? 'Connection: close\r\n' : '';
      return (
        `POST /v1/messages?n=${n} HTTP/1.1\r\nHost: 127.0.0.1:${proxy.port}\r\nx-api-key: k\r\n` +
        `anthropic-version: 2023-06-01\r\n${last}Content-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`
      );
    });
    const text = await sendRaw(proxy.port, requests.join(''));
    const numbers = [...text.matchAll(/"number":(\d+)/g)].map(([, n]) => Number(n));
    assert.equal(
      numbers,
      Array.from({ length: REQUESTS }, (_, n) => n),
    );
    assert.is(max, MAX_PIPELINED);
  }));

test.run();
