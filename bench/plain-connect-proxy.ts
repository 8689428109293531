/**
 * The baseline for tunnels: the smallest `CONNECT` proxy possible with Node's own modules, in its
 * own process. It joins two sockets and does nothing else: no token, no checks, no limits.
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { serveParent, usage } from './channel.ts';

const server = createServer((_request, response) => response.writeHead(405).end());
server.on('connect', (request, socket) => {
  const { hostname, port } = new URL(`http://${request.url}`);
  const far = connect(Number(port), hostname, () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    socket.pipe(far).pipe(socket);
  });
  for (const [side, other] of [
    [socket, far],
    [far, socket],
  ] as const) {
    side.on('error', () => undefined);
    side.on('close', () => other.destroy());
  }
});
server.listen(0, '127.0.0.1', () => {
  serveParent((server.address() as AddressInfo).port, { usage });
});
