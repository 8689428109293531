/** Many clients at once: leaving early, reconnecting, reading slowly, sending nothing. */
import type { Socket } from 'node:net';
import { MESSAGE, exchange, json, openSocket } from '../../fixtures/server/exchange.ts';
import { post } from '../../fixtures/server/disconnecting-clients.ts';
import { pause } from '../../fixtures/wait.ts';
import { ResponseReader } from '../response-reader.ts';
import { withSite } from './site.ts';
import type { Svc } from './site.ts';
import { becomesTrue } from './storm.ts';
import type { Storm } from './storm.ts';

const CLIENTS = 200;
/** Memory growth allowed after a storm, for caches and compiled code. */
const RETAINED_MB = 64;
const IDLE_BYTES = 15_000;
const STALLED_STREAM_KIB = 256;

const withScenario = (bytes: string, scenario: string): string =>
  bytes.replace('\r\nContent-Type', `\r\nx-upstream-scenario: ${scenario}\r\nContent-Type`);
const streamOf = (scenario: string): string =>
  withScenario(post(json(MESSAGE, { stream: true })), scenario);

/** Returns whether the proxy responds to an ordinary request and soon has no request running. */
async function isHealthy(svc: Svc): Promise<boolean> {
  const { status } = await exchange(svc.port, { body: json(MESSAGE) });
  return (
    status === 200 &&
    (await becomesTrue(async () => (await svc.metric('svc_requests_running')) === 0))
  );
}

/** Warms up a proxy, so that memory allocated after every start does not count as growth. */
async function warmUp({ port }: Svc): Promise<void> {
  for (let n = 0; n < 300; n += 1)
    await exchange(port, { body: json(MESSAGE, { stream: n % 2 === 0 }) });
}

const leavingClients: Storm['run'] = ({ seconds }, report) =>
  withSite(async ({ start }) => {
    const svc = await start();
    await warmUp(svc);
    const [beforeMb, files] = [svc.rssMb(), svc.openFiles()];
    const moments = [
      'events count=200 everyMs=5',
      'stall-before-head',
      'stall-after-head',
      'sized bytes=1200',
    ];
    const untilMs = Date.now() + seconds * 1000;
    let left = 0;
    const client = async (n: number): Promise<void> => {
      for (let turn = n; Date.now() < untilMs; turn += 1) {
        const socket = await openSocket(svc.port);
        const bytes = streamOf(moments[turn % moments.length]!);
        // Every fifth client leaves while it is sending its request.
        socket.write(
          turn % 5 === 0 ? bytes.slice(0, Math.ceil(bytes.length * Math.random())) : bytes,
        );
        await pause(Math.random() * 200);
        socket.destroy();
        left += 1;
        if (left % 1000 === 0) report(`${left} have left`);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)));
    const healthy = await isHealthy(svc);
    const closed = await becomesTrue(() => svc.openFiles() <= files + 20);
    const afterMb = svc.rssMb();
    return [
      {
        name: 'clients that leave',
        required: `afterwards nothing runs, no connection is open, at most ${RETAINED_MB} MB more, and it answers`,
        figure: `${left} clients left at any moment: ${healthy ? 'answers, nothing runs' : 'still runs some'}; ${svc.openFiles() - files} more descriptors, RSS ${beforeMb.toFixed(0)} to ${afterMb.toFixed(0)} MB`,
        met: healthy && closed && afterMb - beforeMb <= RETAINED_MB,
      },
    ];
  });

/** A new connection for each request. */
const reconnectingClients: Storm['run'] = ({ seconds }, report) =>
  withSite(async ({ start }) => {
    const svc = await start();
    await warmUp(svc);
    const files = svc.openFiles();
    const untilMs = Date.now() + seconds * 1000;
    const failed = new Map<string, number>();
    const rss: number[] = [];
    let answered = 0;
    const body = json(MESSAGE, { stream: true });
    const client = async (): Promise<void> => {
      while (Date.now() < untilMs) {
        const what = await exchange(svc.port, { body, headers: { connection: 'close' } }).then(
          ({ status, whole }) => (whole ? String(status) : 'broke off'),
          (thrown: NodeJS.ErrnoException) => thrown.code ?? String(thrown),
        );
        if (what === '200') answered += 1;
        else failed.set(what, (failed.get(what) ?? 0) + 1);
      }
    };
    const running = Promise.all(Array.from({ length: CLIENTS }, client));
    while (Date.now() < untilMs) {
      await pause((seconds * 1000) / 20);
      rss.push(svc.rssMb());
      report(`${answered} answered, ${rss.at(-1)?.toFixed(0)} MB`);
    }
    await running;
    const healthy = await isHealthy(svc);
    const closed = await becomesTrue(() => svc.openFiles() <= files + 20);
    const maxRssMb = (part: readonly number[]): number => Math.max(...part);
    const growth = maxRssMb(rss.slice(-5)) - maxRssMb(rss.slice(5, 15));
    return [
      {
        name: 'clients that come and go',
        required:
          'every request answered, no descriptor left, memory of the last quarter at most 16 MB above the half before',
        figure: `${CLIENTS} clients for ${seconds} s: ${answered} answered, failed ${JSON.stringify(Object.fromEntries(failed))}, RSS ${rss.map((mb) => mb.toFixed(0)).join(' ')} MB, ${svc.openFiles() - files} more descriptors`,
        met: failed.size === 0 && healthy && closed && growth <= 16,
      },
    ];
  });

/** Opens `count` connections, a hundred at a time, that have sent `bytes`. */
async function openIdleConnections(
  port: number,
  count: number,
  bytes: string,
  paused = false,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(100, count - sockets.length) }, () =>
      openSocket(port, paused),
    );
    for (const socket of await Promise.all(some)) {
      socket.write(bytes);
      sockets.push(socket);
    }
  }
  return sockets;
}

const EVENTS = 30;
const EVERY_MS = 1000;

const slowStreams: Storm['run'] = ({ streams }, report) =>
  withSite(async ({ start, upstream }) => {
    const svc = await start();
    await warmUp(svc);
    const beforeMb = svc.rssMb();
    const bytes = streamOf(`events count=${EVENTS} everyMs=${EVERY_MS}`);
    /** Longest time between two pieces of a stream, and how many ended. */
    const play = async (port: number) => {
      let longestMs = 0;
      let whole = 0;
      let sizes = new Set<number>();
      const sockets = await openIdleConnections(port, streams, bytes);
      const ends = sockets.map(
        (socket) =>
          new Promise<void>((resolve) => {
            let lastMs: number | undefined;
            const reader = new ResponseReader({
              onFirst: () => undefined,
              onEnd: ({ status, bodyBytes }) => {
                if (status === 200) whole += 1;
                sizes.add(bodyBytes);
                socket.destroy();
              },
            });
            socket.on('data', (piece: Buffer) => {
              const nowMs = performance.now();
              if (lastMs !== undefined) longestMs = Math.max(longestMs, nowMs - lastMs);
              lastMs = nowMs;
              reader.read(piece);
            });
            socket.once('close', () => resolve());
          }),
      );
      await pause((EVENTS * EVERY_MS) / 2);
      const mb = svc.rssMb();
      report(`${streams} streams open, ${mb.toFixed(0)} MB`);
      await Promise.all(ends);
      return { longestMs, whole, mb, sizes: [...sizes] };
    };
    const direct = await play(upstream.port);
    const through = await play(svc.port);
    const perStream = ((through.mb - beforeMb) * 1024) / streams;
    const isSame = String(direct.sizes) === String(through.sizes) && direct.sizes.length === 1;
    return [
      {
        name: `${streams} slow streams at once`,
        required: `all whole, with the provider's bytes, at most ${STALLED_STREAM_KIB} KiB each, no event more than a second late`,
        figure: `${through.whole} whole, ${perStream.toFixed(0)} KiB each (RSS ${beforeMb.toFixed(0)} to ${through.mb.toFixed(0)} MB); longest gap of events ${EVERY_MS} ms apart ${through.longestMs.toFixed(0)} ms, directly ${direct.longestMs.toFixed(0)} ms`,
        met:
          through.whole === streams &&
          isSame &&
          perStream <= STALLED_STREAM_KIB &&
          through.longestMs - EVERY_MS <= 1000,
      },
    ];
  });

const slowReaders: Storm['run'] = ({ streams }, report) =>
  withSite(async ({ start }) => {
    const svc = await start();
    await warmUp(svc);
    const half = Math.ceil(streams / 8);
    const sockets: Socket[] = [];
    /**
     * Opens the same number again; returns the proxy's memory in MB once all of them have stalled.
     */
    const more = async (): Promise<number> => {
      sockets.push(
        ...(await openIdleConnections(svc.port, half, streamOf('flood bytes=8000'), true)),
      );
      await pause(10_000);
      // Further requests trigger a garbage collection.
      await warmUp(svc);
      report(`${sockets.length} readers, ${svc.rssMb().toFixed(0)} MB`);
      return svc.rssMb();
    };
    const beforeMb = svc.rssMb();
    // The cost of the first half includes the fixed cost of any burst.
    const [halfMb, fullMb] = [await more(), await more()];
    const others = await exchange(svc.port, { body: json(MESSAGE) });
    for (const socket of sockets) socket.destroy();
    const healthy = await isHealthy(svc);
    const kibEach = (Math.max(0, fullMb - halfMb) * 1024) / half;
    const mb = [beforeMb, halfMb, fullMb].map((each) => each.toFixed(0));
    return [
      {
        name: 'clients that do not read',
        required: `at most ${STALLED_STREAM_KIB} KiB more for each further one, other clients are answered`,
        figure: `endless streams that nobody reads: RSS ${mb[0]} MB with none, ${mb[1]} with ${half}, ${mb[2]} with ${2 * half}: ${kibEach.toFixed(0)} KiB for each further one; another client: ${others.status}`,
        met: kibEach <= STALLED_STREAM_KIB && others.status === 200 && healthy,
      },
    ];
  });

const idle: Storm['run'] = ({ idle: count }, report) =>
  withSite(async ({ start }) => {
    const svc = await start();
    await warmUp(svc);
    const beforeMb = svc.rssMb();
    const sockets = await openIdleConnections(
      svc.port,
      count,
      'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n',
    );
    let answered = 0;
    for (const socket of sockets) socket.once('data', () => (answered += 1));
    await becomesTrue(() => {
      report(`${answered} of ${count} answered`);
      return answered >= count;
    });
    const bytesEach = ((svc.rssMb() - beforeMb) * 1024 * 1024) / count;
    const open = sockets.filter((socket) => !socket.destroyed).length;
    const waits: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const startMs = performance.now();
      const { status } = await exchange(svc.port, { body: json(MESSAGE) });
      waits.push(status === 200 ? performance.now() - startMs : Number.POSITIVE_INFINITY);
    }
    for (const socket of sockets) socket.destroy();
    const healthy = await isHealthy(svc);
    return [
      {
        name: `${count} idle connections`,
        required: `all stay open, at most ${IDLE_BYTES / 1000} kB each, others are answered`,
        figure: `${answered} answered once, ${open} open; ${(bytesEach / 1000).toFixed(1)} kB each; twenty other requests took ${Math.min(...waits).toFixed(0)} to ${Math.max(...waits).toFixed(0)} ms`,
        met:
          answered === count &&
          open === count &&
          bytesEach <= IDLE_BYTES &&
          healthy &&
          Number.isFinite(Math.max(...waits)),
      },
    ];
  });

export const CROWDS: readonly Storm[] = [
  { name: 'aborts', run: leavingClients },
  { name: 'churn', run: reconnectingClients },
  { name: 'slow-streams', run: slowStreams },
  { name: 'slow-readers', run: slowReaders },
  { name: 'idle', run: idle },
];
