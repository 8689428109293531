/** A path means exactly its bytes: the gate and the routes never normalise it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import {
  MESSAGE,
  closeClients,
  exchange,
  json,
  sendRaw,
} from '../../../fixtures/server/exchange.ts';

const KEY = 'sekret-key-1234567890';
const KEYED = `security:\n  api_key: ${KEY}\n`;
const REQUIRED = `${KEYED}  require_api_key: true\n`;
const NAVIGATION = 'Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n';

/**
 * Returns every spelling after `from` that a URL parser would resolve to `to`, which starts with a
 * slash.
 */
function spellings(from: string, to: string): string[] {
  const climbs = ['..', '%2e%2e', '.%2E', '%2e.'].flatMap((dots) => [
    `${from}/${dots}${to}`,
    `${from}\\${dots}${to}`,
    `${from}/${dots}${to.replaceAll('/', '\\')}`,
    `${from}/${dots}${to.replace(/\/(?=[^/]*$)/, '%2f')}`,
    `${from}/x/${dots}/${dots}${to}`,
    `${from}/${dots}/.${to}`,
  ]);
  const end = to.lastIndexOf('/');
  const inside = ['.', '%2e', '%2E', 'x/..', ''].map(
    (part) => `${to.slice(0, end)}/${part}${to.slice(end)}`,
  );
  return [...climbs, ...inside, `/.${to}`, `//${to}`, `${to}/.`, `${to}/x/..`, `${to}/..${to}`];
}

async function ask(port: number, method: string, target: string, fields = ''): Promise<string> {
  const head = `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
  return sendRaw(port, `${head}${fields}Connection: close\r\n\r\n`);
}

const statusOf = (answer: string): number => Number(answer.slice(9, 12));

test('no spelling of the reload path lets another machine or a foreign page reload', () =>
  withProxy({ yaml: KEYED }, async ({ proxy: { port } }) => {
    const remoteClients = ['X-Forwarded-For: 1.2.3.4\r\n', 'Origin: https://evil.example\r\n'];
    for (const remoteClient of remoteClients) {
      const fields = `X-Svc-Key: ${KEY}\r\n${remoteClient}`;
      assert.is(statusOf(await ask(port, 'POST', '/config/reload', fields)), 403);
      assert.is(statusOf(await ask(port, 'POST', '/config/reload?x=/../y', fields)), 403);
      for (const target of [
        ...spellings('/x', '/config/reload'),
        ...spellings('/v1', '/config/reload'),
        ...spellings('/dashboard', '/config/reload'),
        `http://127.0.0.1:${port}/config/./reload`,
      ]) {
        const status = statusOf(await ask(port, 'POST', target, fields));
        assert.ok([400, 403, 404].includes(status), `${target}: ${status}`);
      }
    }
    assert.is(statusOf(await ask(port, 'POST', '/config/reload')), 200);
    assert.is(statusOf(await ask(port, 'POST', `http://127.0.0.1:${port}/config/reload`)), 200);
  }));

test('no spelling of a public path leads to one that is not', () =>
  withProxy({ yaml: REQUIRED }, async ({ proxy: { port, wsPort }, upstream }) => {
    const headers = { 'x-svc-key': KEY };
    await exchange(port, { body: json(MESSAGE), headers });
    const secret = ['/stats', '/recent', '/traces', '/trace/last', '/savings', '/vault'];
    for (const listenerPort of [port, wsPort ?? port]) {
      for (const path of secret) {
        for (const from of ['/dashboard', '/docs', '/health', '']) {
          for (const target of spellings(from, path)) {
            const response = await ask(listenerPort, 'GET', target, NAVIGATION);
            assert.ok([400, 401, 404].includes(statusOf(response)), `${target}: ${response}`);
          }
        }
      }
      const crossSite = `${NAVIGATION}Sec-Fetch-Site: cross-site\r\n`;
      const followed = await ask(listenerPort, 'GET', '/dashboard/../traces', crossSite);
      assert.ok([400, 404].includes(statusOf(followed)), followed);
    }
    assert.is(upstream.requests.length, 1);
    assert.is(statusOf(await ask(port, 'GET', '/health?a=/../stats')), 200);
  }));

test('a path with dots is never one of ours, even for local clients', () =>
  withProxy({}, async ({ proxy: { port, wsPort } }) => {
    for (const target of ['/trace/..', '/trace/.', '/trace/%2e%2e', '/x/../health', '/.', '/..']) {
      for (const listenerPort of [port, wsPort ?? port]) {
        assert.is(statusOf(await ask(listenerPort, 'GET', target)), 404, target);
      }
    }
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    for (const target of spellings('/x', '/ws')) {
      const status = statusOf(await ask(port, 'GET', target, upgrade));
      assert.ok([400, 404].includes(status), `${target}: ${status}`);
    }
  }));

test.after(closeClients);
test.run();
