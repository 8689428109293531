/**
 * Hostile requests as raw bytes, through node's own parser and then the gate: what counts is
 * what both together let pass. Each case is the bytes written to a new connection and the
 * status that must come back; after a 400 or 431 nothing more is answered.
 */
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createGate } from './gate.ts';
import { CASES, H } from './hostile-testing.ts';
import { errorBody, errorHeaders, errorStatus, rawErrorResponse } from '../http/error-response.ts';

/** Starts a server configured like the proxy's; it answers 200 with the target it saw. */
function startServer() {
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 2000 });
  server.maxHeadersCount = 0;
  let ports: readonly number[] = [];
  const gate = createGate({
    boundHost: '127.0.0.1',
    ports: () => ports,
    allowedHosts: [],
    allowedOrigins: ['*'],
    trustBrowserOrigins: false,
    requireKey: false,
    keys: {
      check: (key) =>
        key === 'k'
          ? { verdict: 'keyed', keyId: 'k1', caller: { keyId: 'k1', label: 'k1' } }
          : 'unknown',
    },
  });
  server.on('request', (req: IncomingMessage, res) => {
    const answer = gate(req);
    if (answer.verdict === 'refused') {
      const body = errorBody(answer.error, 'r1');
      res.writeHead(
        errorStatus(answer.error),
        errorHeaders(answer.error, 'r1', body.length, answer.close),
      );
      res.end(body);
      return;
    }
    // A malformed chunk is found only while the body is read, so the response waits for the end of
    // the body.
    req.on('error', () => undefined);
    req.resume().on('end', () => res.end(req.url));
  });
  server.on('upgrade', (req: IncomingMessage, socket) => {
    const answer = gate(req, 'upgrade');
    if (answer.verdict === 'refused') socket.end(rawErrorResponse(answer.error, 'r1'));
    else socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  });
  return new Promise<{ port: number; close: () => Promise<void> }>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      ports = [port];
      const close = () =>
        new Promise<void>((done) => {
          server.close(() => done());
          server.closeAllConnections();
        });
      resolve({ port, close });
    });
  });
}

const NEXT = `GET /next HTTP/1.1\r\n${H}Connection: close\r\n\r\n`;

/**
 * Writes `bytes` (latin1), then a harmless request after them, and resolves with all statuses that
 * came back.
 */
function exchange(port: number, bytes: string, next = NEXT): Promise<number[]> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    const finish = () => {
      socket.destroy();
      resolve([...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1])));
    };
    socket.setEncoding('latin1');
    socket.setTimeout(60_000, finish);
    socket.on('data', (text: string) => {
      received += text;
    });
    socket.on('error', finish);
    socket.on('close', finish);
    socket.write(Buffer.from(bytes + next, 'latin1'));
  });
}

test(`${CASES.length} raw requests`, async () => {
  assert.ok(CASES.length >= 60);
  const server = await startServer();
  const faults: string[] = [];
  try {
    for (const [name, bytes, expected] of CASES) {
      const statuses = await exchange(server.port, bytes);
      if (statuses[0] !== expected) faults.push(`${name}: ${statuses[0]}, not ${expected}`);
      // After a request that cannot be framed, nothing more may be answered.
      const isBroken = expected === 400 || expected === 431;
      if (isBroken && statuses.length > 1) faults.push(`${name}: answered ${statuses.join(' ')}`);
    }
  } finally {
    await server.close();
  }
  assert.equal(faults, []);
});

test('HTTP/1.0 is accepted with a Host', async () => {
  const server = await startServer();
  try {
    const bytes = `GET /stats HTTP/1.0\r\n${H}\r\n`;
    assert.equal(await exchange(server.port, bytes, ''), [200]);
  } finally {
    await server.close();
  }
});

test('a refusal is a complete response with type, code and id that does not reveal the cause', async () => {
  const server = await startServer();
  try {
    const text = await new Promise<string>((resolve) => {
      let received = '';
      const socket = connect(server.port, '127.0.0.1', () => {
        socket.write(`GET /stats HTTP/1.1\r\n${H}Via: x\r\nConnection: close\r\n\r\n`);
      });
      socket.setEncoding('utf8').on('data', (part: string) => {
        received += part;
      });
      socket.on('close', () => resolve(received));
    });
    assert.match(text, /^HTTP\/1\.1 401 /);
    assert.match(text, /\r\nX-Request-ID: r1\r\n/);
    const body: unknown = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
    assert.equal(body, {
      type: 'error',
      error: {
        type: 'unauthorized',
        message:
          'Invalid or missing authentication; a forwarded request needs the header X-Svc-Key',
        code: 'AUTH_001',
      },
      request_id: 'r1',
    });
  } finally {
    await server.close();
  }
});

test.run();
