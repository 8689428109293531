/** Failures of the machine: its disk, the ledger's file, file descriptors, the clock. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../stages/sqlite.ts';
import { createRandom, randomInt } from '../../fixtures/random.ts';
import { MESSAGE, exchange, json, openSocket } from '../../fixtures/server/exchange.ts';
import { pause } from '../../fixtures/wait.ts';
import { auditFiles } from '../../stages/audit/files.ts';
import { verifyAudit } from '../../stages/audit/verify.ts';
import { EVERYTHING, prepareHome, readLedger, withSite } from './site.ts';
import type { Site, Svc } from './site.ts';
import { becomesTrue } from './storm.ts';
import type { Storm } from './storm.ts';
import { failuresText, startTraffic } from './traffic.ts';

const DISK_MB = 8;
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** Runs `use` with a home on a separate disk. Throws if a disk cannot be mounted. */
async function withDisk<T>(
  { folder, upstream }: Site,
  use: (home: string) => Promise<T>,
): Promise<T> {
  const home = join(folder, 'disk');
  prepareHome(home, upstream.port, '');
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=700`, 'storm', home]);
  try {
    prepareHome(home, upstream.port, EVERYTHING.replace('4096', '1'));
    return await use(home);
  } finally {
    execFileSync('umount', ['--lazy', home]);
  }
}

/** Compares the number of requests with rows and drops, after a graceful end. */
async function compareRows(svc: Svc, file: string, answered: number) {
  const dropped = await svc.metric('svc_ledger_rows_dropped_total');
  await svc.end();
  const { ids, twice, isSound } = readLedger(file);
  return {
    text: `${ids.size} rows and ${dropped} counted as dropped of ${answered}, ${twice} twice, file ${isSound ? 'sound' : 'NOT sound'}`,
    met: isSound && twice === 0 && ids.size + dropped === answered,
  };
}

const diskFull: Storm['run'] = ({ seconds }, report) =>
  withSite((site) =>
    withDisk(site, async (home) => {
      const svc = await site.start({ home });
      const traffic = startTraffic([svc.port], 8);
      await pause(2000);
      const ballast = join(home, 'ballast');
      try {
        for (const piece = Buffer.alloc(4096); ;) writeFileSync(ballast, piece, { flag: 'a' });
      } catch {
        report('the disk is full');
      }
      const isReported = await becomesTrue(
        async () => (await svc.health()).status !== 'ok',
        60_000,
      );
      const beforeMb = svc.rssMb();
      await pause(seconds * 1000);
      const { reasons } = await svc.health();
      const afterMb = svc.rssMb();
      rmSync(ballast);
      const hasRecovered = await becomesTrue(
        async () => (await svc.health()).status === 'ok',
        60_000,
      );
      await traffic.stop();
      const rows = await compareRows(svc, join(home, 'monitor.db'), traffic.sent);
      const audit = await verifyAudit(auditFiles(home));
      return [
        {
          name: 'disk full',
          required:
            'every request answered, /health says it, memory bounded, drops counted; with room again the ledger and the audit log are sound and /health is ok',
          figure: `${seconds} s on a full disk of ${DISK_MB} MB: ${traffic.ended.size} answered, ${failuresText(traffic)}; /health: ${reasons.join('; ')}; RSS ${beforeMb.toFixed(0)} to ${afterMb.toFixed(0)} MB; ${hasRecovered ? 'ok again' : 'NOT ok again'}; ${rows.text}; audit: ${audit.fault?.text ?? `${audit.records} records verified`}`,
          met:
            isReported &&
            hasRecovered &&
            traffic.failed.size === 0 &&
            rows.met &&
            audit.fault === undefined &&
            afterMb - beforeMb <= 64,
        },
      ];
    }),
  );

const readOnly: Storm['run'] = (_sizes, report) =>
  withSite((site) =>
    withDisk(site, async (home) => {
      const remount = (how: string): void =>
        void execFileSync('mount', ['-o', `remount,${how}`, home]);
      // The home was used before, so that only writing fails.
      const first = await site.start({ home });
      for (let n = 0; n < 20; n += 1) await exchange(first.port, { body: json(MESSAGE) });
      await first.end();
      remount('ro');
      try {
        const svc = await site.start({ home });
        report('runs on a read-only home');
        const traffic = startTraffic([svc.port], 4);
        await pause(3000);
        await traffic.stop();
        const { status, reasons } = await svc.health();
        remount('rw');
        const hasRecovered = await becomesTrue(
          async () => (await svc.health()).status === 'ok',
          60_000,
        );
        const rows = await compareRows(svc, join(home, 'monitor.db'), traffic.sent + 20);
        return [
          {
            name: 'read-only home',
            required:
              'every request answered, /health says it, rows are stored once it can be written',
            figure: `${traffic.ended.size} answered, ${failuresText(traffic)}; /health: ${status}, ${reasons.join('; ')}; ${hasRecovered ? 'ok again' : 'NOT ok again'}; ${rows.text}`,
            met: traffic.failed.size === 0 && status !== 'ok' && hasRecovered && rows.met,
          },
        ];
      } catch (thrown) {
        const text = String(thrown).replaceAll(home, '~/.svc');
        return [
          {
            name: 'read-only home',
            required: 'it runs, or says in a sentence why it does not start',
            figure: text.trim(),
            met: /read-only/.test(text) && !/\n\s+at /.test(text),
          },
        ];
      } finally {
        remount('rw');
      }
    }),
  );

/** Damage to a ledger's file, by name. */
const DAMAGES: Readonly<Record<string, (bytes: Buffer, n: number) => Buffer>> = {
  'a first block of zeros': (bytes) => Buffer.concat([Buffer.alloc(4096), bytes.subarray(4096)]),
  'cut in half': (bytes) => bytes.subarray(0, bytes.length >> 1),
  'cut inside a page': (bytes) => bytes.subarray(0, bytes.length - 1234),
  empty: () => Buffer.alloc(0),
  'random pages': (bytes, n) => {
    const random = createRandom(n);
    const out = Buffer.from(bytes);
    for (let k = 0; k < 3; k += 1) {
      const page = randomInt(random, 1, Math.max(2, Math.floor(bytes.length / 4096)));
      for (let at = page * 4096; at < Math.min(out.length, (page + 1) * 4096); at += 1)
        out[at] = randomInt(random, 0, 256);
    }
    return out;
  },
  'random bytes': (bytes, n) => {
    const random = createRandom(n);
    const out = Buffer.from(bytes);
    for (let k = 0; k < 200; k += 1)
      out[randomInt(random, 0, out.length)] = randomInt(random, 0, 256);
    return out;
  },
};

const damaged: Storm['run'] = ({ rounds }, report) =>
  withSite(async (site) => {
    const file = join(site.home, 'monitor.db');
    const first = await site.start();
    for (let n = 0; n < 400; n += 1) await exchange(first.port, { body: json(MESSAGE) });
    await first.end();
    const whole = readFileSync(file);
    const faults: string[] = [];
    let attempts = 0;
    const repeats = Math.max(1, Math.round(rounds / 200));
    for (const [name, damage] of Object.entries(DAMAGES)) {
      for (let n = 0; n < (name.startsWith('random') ? 3 * repeats : 1); n += 1) {
        for (const other of readdirSync(site.home))
          if (other.startsWith('monitor.db') && !other.endsWith('.lock'))
            rmSync(join(site.home, other));
        writeFileSync(file, damage(whole, n), { mode: 0o600 });
        attempts += 1;
        report(`${name} ${n + 1}`);
        const fault = await useDamaged(site, file);
        if (fault !== undefined) faults.push(`${name} ${n + 1}: ${fault}`);
      }
    }
    return [
      {
        name: 'damaged ledger',
        required:
          'every request answered, and every row stored a second after the start; figures can be read',
        figure:
          `${attempts} files with ${Object.keys(DAMAGES).length} kinds of damage: ${faults.length} faults ${faults.join('; ')}`.trim(),
        met: faults.length === 0,
      },
    ];
  });

async function useDamaged({ start, command }: Site, file: string): Promise<string | undefined> {
  const svc = await start().catch((thrown: unknown) => String(thrown).slice(0, 300));
  if (typeof svc === 'string') return svc;
  // Damage may be detected only after the first rows, which are then in the file that is moved
  // aside.
  for (let n = 0; n < 20; n += 1) await exchange(svc.port, { body: json(MESSAGE) });
  await pause(1000);
  const traffic = startTraffic([svc.port], 4);
  await becomesTrue(() => traffic.ended.size >= 100);
  await traffic.stop();
  const dropped = await svc.metric('svc_ledger_rows_dropped_total');
  const code = await svc.end();
  if (code !== 0) return `ended with ${code}`;
  if (traffic.failed.size > 0) return failuresText(traffic);
  try {
    const { ids } = readLedger(file);
    const missing = [...traffic.ended.keys()].filter((id) => !ids.has(id)).length;
    if (missing > 0)
      return `${missing} of ${traffic.sent} rows are missing, ${dropped} counted as dropped`;
  } catch (thrown) {
    return String(thrown);
  }
  for (const argv of [['stats'], ['cost']]) {
    const [failed] = await once(command(...argv), 'exit');
    if (failed !== 0) return `svc ${argv.join(' ')}: exit code ${failed}`;
  }
  return undefined;
}

const locked: Storm['run'] = ({ seconds }, report) =>
  withSite(async ({ home, start }) => {
    const svc = await start();
    const file = join(home, 'monitor.db');
    const traffic = startTraffic([svc.port], 4);
    await becomesTrue(() => traffic.ended.size > 20);
    const lock = new Database(file);
    lock.exec('BEGIN EXCLUSIVE');
    report(`locked for ${seconds} s`);
    await pause(seconds * 1000);
    const { status, reasons } = await svc.health();
    lock.exec('COMMIT');
    lock.close();
    await traffic.stop();
    const rows = await compareRows(svc, file, traffic.sent);
    return [
      {
        name: 'locked ledger',
        required:
          'every request answered without waiting for it, every row stored once or counted as dropped',
        figure: `locked for ${seconds} s: ${traffic.ended.size} answered, ${failuresText(traffic)}, the slowest in ${traffic.longestMs.toFixed(0)} ms; /health: ${status} ${reasons.join('; ')}; ${rows.text}`,
        met: traffic.failed.size === 0 && rows.met,
      },
    ];
  });

/** `strace` makes each write of the ledger and of locks fail. */
const diskFails: Storm['run'] = ({ seconds }, report) =>
  withSite(async ({ home, start }) => {
    const svc = await start();
    const traffic = startTraffic([svc.port], 4);
    await becomesTrue(() => traffic.ended.size > 20);
    const inject = ['-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=EIO'];
    const strace = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...inject, '-p', `${svc.pid}`]);
    const isReported = await becomesTrue(async () => (await svc.health()).status !== 'ok');
    report('writing fails');
    await pause((seconds * 1000) / 4);
    const { reasons } = await svc.health();
    strace.kill('SIGINT');
    await once(strace, 'exit');
    const hasRecovered = await becomesTrue(
      async () => (await svc.health()).status === 'ok',
      60_000,
    );
    await traffic.stop();
    const rows = await compareRows(svc, join(home, 'monitor.db'), traffic.sent);
    const audit = await verifyAudit(auditFiles(home));
    return [
      {
        name: 'disk fails (EIO)',
        required:
          'every request answered, /health says it; later every row is stored or counted as dropped, and the audit log verifies',
        figure: `${traffic.ended.size} answered, ${failuresText(traffic)}; /health: ${reasons.join('; ').replaceAll(home, '~/.svc')}; ${hasRecovered ? 'ok again' : 'NOT ok again'}; ${rows.text}; audit: ${audit.fault?.text ?? `${audit.records} records verified`}`,
        met:
          isReported &&
          hasRecovered &&
          traffic.failed.size === 0 &&
          rows.met &&
          audit.fault === undefined,
      },
    ];
  });

const twoProxies: Storm['run'] = ({ seconds }, report) =>
  withSite(async (site) => {
    const other = join(site.folder, 'other');
    const db = join(site.home, 'monitor.db');
    prepareHome(other, site.upstream.port, EVERYTHING);
    const env = { SVC_DB: db };
    const pair = [await site.start({ env }), await site.start({ env, home: other })];
    const traffic = startTraffic(pair.map(({ port }) => port));
    for (let n = 0; n < seconds; n += 1) {
      await pause(1000);
      report(`${traffic.ended.size} answered`);
    }
    await traffic.stop();
    await pair[0]!.end();
    const rows = await compareRows(pair[1]!, db, traffic.sent);
    return [
      {
        name: 'two proxies, one ledger',
        required: 'every row of both, once',
        figure: `${failuresText(traffic)}; ${rows.text}`,
        met: traffic.failed.size === 0 && rows.met,
      },
    ];
  });

const FILES = 256;

const descriptors: Storm['run'] = ({ seconds }, report) =>
  withSite(async ({ home, start }) => {
    const svc = await start({ launcher: ['prlimit', `--nofile=${FILES}:${FILES}`] });
    for (let n = 0; n < 50; n += 1) await exchange(svc.port, { body: json(MESSAGE) });
    const rest = svc.openFiles();
    const sockets = [];
    for (let n = 0; n < 2 * FILES; n += 1) {
      const socket = await openSocket(svc.port);
      socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
      sockets.push(socket);
    }
    let answered = 0;
    let closed = 0;
    for (const socket of sockets) {
      socket.once('data', () => (answered += 1));
      socket.once('close', () => (closed += 1));
    }
    await becomesTrue(() => answered + closed >= 2 * FILES, 5000);
    report(`${answered} answered, ${closed} closed`);
    const cpu = (): number => {
      const fields = readFileSync(`/proc/${svc.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) / 100;
    };
    const beforeS = cpu();
    await pause(seconds * 100);
    const busy = (cpu() - beforeS) / (seconds / 10);
    // Uses connections that were accepted earlier.
    const traffic = startTraffic([svc.port], 4);
    await pause(1000);
    for (const socket of sockets) socket.destroy();
    const during = traffic.failed.size;
    const hasRecovered = await becomesTrue(() => svc.openFiles() <= rest + 10);
    const sentBefore = traffic.sent;
    await pause(2000);
    await traffic.stop();
    const health = await svc.health();
    const statusAfter = (await exchange(svc.port, { body: json(MESSAGE) })).status;
    const rows = await compareRows(svc, join(home, 'monitor.db'), 51 + traffic.ended.size);
    return [
      {
        name: 'descriptors used up',
        required:
          'it goes on with the connections that it has, does not spin, and answers once there are some again',
        figure: `${2 * FILES} connections at a limit of ${FILES}: ${answered} answered, ${closed} closed, ${(100 * busy).toFixed(0)} % of a core; ${failuresText(traffic)} (${during} kinds before they left); ${sentBefore} sent; afterwards ${statusAfter}, /health ${health.status}; ${rows.text}`,
        met:
          hasRecovered && statusAfter === 200 && busy < 0.5 && health.status === 'ok' && rows.met,
      },
    ];
  });

const DAY_S = 86_400;
const JUMPS: Readonly<Record<string, number>> = {
  'an hour forward': 3600,
  'an hour back': -3600,
  '400 days forward': 400 * DAY_S,
  'ten years back': -3650 * DAY_S,
  'and right again': 0,
};

const clock: Storm['run'] = ({ seconds }, report) =>
  withSite(async ({ folder, home, start }) => {
    if (!existsSync(FAKETIME)) throw new Error(`needs ${FAKETIME} (Debian: libfaketime)`);
    const file = join(folder, 'clock');
    writeFileSync(file, '+0\n');
    const svc = await start({
      env: {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    });
    const traffic = startTraffic([svc.port], 8);
    const clocks: string[] = [];
    for (const [name, jumpS] of Object.entries(JUMPS)) {
      writeFileSync(file, `${jumpS < 0 ? '' : '+'}${jumpS}\n`);
      report(name);
      await pause((seconds * 1000) / 5);
      const { headers } = await exchange(svc.port, { path: '/health', method: 'GET' });
      clocks.push(String(headers.date).slice(5, 16));
    }
    await traffic.stop();
    const { status } = await svc.health();
    const rows = await compareRows(svc, join(home, 'monitor.db'), traffic.sent);
    const audit = await verifyAudit(auditFiles(home));
    return [
      {
        name: 'clock jumps',
        required: 'every request answered, every row stored once, the audit log verifies',
        figure: `${Object.keys(JUMPS).join(', ')} (its days: ${clocks.join(', ')}): ${traffic.ended.size} answered, ${failuresText(traffic)}, the slowest in ${traffic.longestMs.toFixed(0)} ms; /health ${status}; ${rows.text}; audit: ${audit.fault?.text ?? `${audit.records} records verified`}`,
        met:
          traffic.failed.size === 0 &&
          rows.met &&
          audit.fault === undefined &&
          new Set(clocks).size >= 3,
      },
    ];
  });

export const HOST: readonly Storm[] = [
  { name: 'disk-full', run: diskFull },
  { name: 'disk-fails', run: diskFails },
  { name: 'read-only', run: readOnly },
  { name: 'damaged', run: damaged },
  { name: 'locked', run: locked },
  { name: 'two-proxies', run: twoProxies },
  { name: 'descriptors', run: descriptors },
  { name: 'clock', run: clock },
];
