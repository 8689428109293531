/**
 * The smallest proxy possible with undici, in its own process: it pipes the request into
 * `undici.request` and the answer back, and does nothing else.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request as send } from 'undici';
import { serveParent, usage } from '../channel.ts';

const origin = `http://127.0.0.1:${process.argv[2]}`;
const dispatcher = new Agent({ connections: 1024, pipelining: 1 });

const server = createServer((request, response) => {
  const left = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) left.abort();
  });
  send(`${origin}${request.url}`, {
    dispatcher,
    method: request.method ?? 'POST',
    headers: request.headers,
    body: request,
    signal: left.signal,
  })
    .then(({ statusCode, headers, body }) => {
      response.writeHead(statusCode, headers);
      body.on('error', () => response.destroy()).pipe(response);
    })
    .catch(() => response.destroy());
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  serveParent((server.address() as AddressInfo).port, { usage });
});
