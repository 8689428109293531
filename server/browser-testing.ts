/** Real pages in a real browser, for tests: Debian's `chromium`, without a window. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A web server of somebody else on this machine. */
export interface PageServer {
  readonly port: number;
  /** What the page saw, door by door. */
  readonly report: Promise<Record<string, string>>;
  close(): void;
}

/**
 * Serves `page` on every path but three: what is posted to `/report` is the report, and `/away` and
 * `/post-away` redirect to `target`, with its query, the latter without changing the method.
 */
export function servePage(page: string, target = ''): Promise<PageServer> {
  let tell: (seen: Record<string, string>) => void = () => undefined;
  const report = new Promise<Record<string, string>>((resolve) => (tell = resolve));
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => (text += piece.toString()));
    request.on('end', () => {
      const [path, query] = (request.url ?? '/').split('?');
      if (path === '/away' || path === '/post-away') {
        response.writeHead(path === '/away' ? 302 : 307, { location: `${target}?${query}` }).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(page);
      if (request.url === '/report') tell(JSON.parse(text) as Record<string, string>);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has such an address
      const { port } = server.address() as AddressInfo;
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ port, report, close });
    });
  });
}

/** Opens the page in a browser and waits for its report. */
export async function visit(
  url: string,
  report: PageServer['report'],
): Promise<Record<string, string>> {
  const late = AbortSignal.timeout(60_000);
  return browse([url], () =>
    Promise.race([
      report,
      new Promise<never>((_resolve, reject) => {
        late.addEventListener('abort', () => reject(new Error('the page did not report')));
      }),
    ]),
  );
}

/** What a browser shows of `url` when it is typed into the address bar, as HTML. */
export function dump(url: string): Promise<string> {
  return browse(['--dump-dom', url], async (browser) => {
    let html = '';
    for await (const piece of browser.stdout ?? []) html += String(piece);
    return html;
  });
}

/** Starts a browser with a profile of its own, and ends it when `use` is done. */
async function browse<T>(
  given: readonly string[],
  use: (browser: ChildProcess) => Promise<T>,
): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), 'svc-browser-'));
  const browser = spawn(
    'chromium',
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--user-data-dir=${profile}`,
      ...given,
    ],
    // A group of its own: the browser's helpers write to the profile, and must end with it.
    { stdio: ['ignore', 'pipe', 'ignore'], detached: true },
  );
  const gone = new Promise<void>((resolve) => browser.once('exit', () => resolve()));
  try {
    return await use(browser);
  } finally {
    if (browser.exitCode === null && browser.pid !== undefined)
      process.kill(-browser.pid, 'SIGKILL');
    await gone;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  }
}

/** Something that passes connections on, and sees who asked for what. */
export interface Relay {
  readonly port: number;
  /** The request lines that came, in their order. */
  readonly lines: readonly string[];
  close(): void;
}

/** Passes connections on to `port`. */
export function startRelay(port: number): Promise<Relay> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (piece: Buffer) => {
      const text = piece.toString('latin1');
      for (const [line] of text.matchAll(/^[A-Z]{3,7} \/\S* (?=HTTP\/1\.1)/gm)) lines.push(line);
    });
    client.pipe(upstream);
    upstream.pipe(client);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has such an address
      const { port: own } = server.address() as AddressInfo;
      const close = () => {
        server.close();
        for (const socket of sockets) socket.destroy();
      };
      resolve({ port: own, lines, close });
    });
  });
}
