/**
 * The baseline: the smallest correct proxy possible with Node's own modules, in its own process. It
 * pipes request and response through a keep-alive agent and does nothing else: no checks, no
 * records, no inspection.
 */
import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveParent, usage } from './channel.ts';

const upstreamPort = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });

const server = createServer((request, response) => {
  const onward = send(
    {
      agent,
      host: '127.0.0.1',
      port: upstreamPort,
      method: request.method,
      path: request.url,
      headers: request.headers,
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.destroy());
  response.on('close', () => {
    if (!response.writableFinished) onward.destroy();
  });
  request.pipe(onward);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  serveParent((server.address() as AddressInfo).port, { usage });
});
