/** Checks of the machine: Node, SQLite, disk, and the environment's proxy variables. */
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { exemptions } from '../../server/outbound/no-proxy.ts';
import { endOfLifeNote } from '../process/facts.ts';
import { fault, ok, remark, warning } from './finding.ts';
import type { Examined, Found } from './finding.ts';

/** From here on, release 12 of better-sqlite3 aborts the process now and then. */
const ABORTS_FROM: Readonly<Record<number, readonly number[]>> = { 24: [24, 19], 26: [26, 7] };
/** Earlier versions can damage a database in WAL mode when two connections checkpoint at once. */
const MIN_SQLITE = [3, 51, 3];
const MIN_NODE = [20, 18, 1];
const MB = 1024 * 1024;
const TOO_LITTLE_BYTES = 100 * MB;
const LITTLE_BYTES = 1024 * MB;

export function checkNode({ context }: Examined): Found {
  const { nodeVersion } = context;
  if (isOlder(nodeVersion, MIN_NODE))
    return fault(
      'Node',
      'config',
      `Node ${nodeVersion} is too old`,
      `Install ${MIN_NODE.join('.')} or newer.`,
    );
  const [old] = endOfLifeNote(nodeVersion) ?? [];
  return old === undefined ? ok('Node', nodeVersion) : remark('Node', `${nodeVersion}: ${old}`);
}

export async function checkSqlite({ context }: Examined): Promise<Found> {
  try {
    const { Database, release } = await import('../../stages/sqlite.ts');
    const database = new Database(':memory:');
    const version = String(database.prepare('select sqlite_version()').pluck().get());
    database.close();
    if (release === 12 && mayAbort(context.nodeVersion))
      return warning(
        'SQLite',
        `release 12 of better-sqlite3 makes Node ${context.nodeVersion} abort now and then`,
        'Install svc again with its optional packages, or use Node 22.',
      );
    if (!isOlder(version, MIN_SQLITE)) return ok('SQLite', version);
    return warning(
      'SQLite',
      `${version} is older than ${MIN_SQLITE.join('.')}, which fixes a fault of write-ahead logs`,
      'Install svc again with the versions of its lock file: npm ci.',
    );
  } catch (thrown) {
    const [first] = (thrown as Error).message.split('\n');
    return fault(
      'SQLite',
      'internal',
      `cannot be loaded: ${first}`,
      'It was built for another version of Node: npm rebuild better-sqlite3.',
    );
  }
}

export function checkDisk({ home }: Examined): Found {
  let folder = home;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const text = `${Math.floor(freeBytes / MB).toLocaleString('en-US')} MB free at ${folder}`;
  const cure =
    'Free some space, or move the home folder with SVC_HOME. Requests continue either way.';
  if (freeBytes < TOO_LITTLE_BYTES)
    return fault('Disk', 'internal', `${text}: the ledger cannot be written for long`, cure);
  return freeBytes < LITTLE_BYTES ? warning('Disk', text, cure) : ok('Disk', text);
}

/** A client that sends even loopback requests through the network's proxy never reaches svc. */
export function checkProxyVariables({ context }: Examined): Found {
  const read = (name: string) => context.env[name] || context.env[name.toLowerCase()];
  const set = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].filter((name) => read(name) !== undefined);
  if (set.length === 0) return ok('Proxy variables', 'none set');
  const isExempt = exemptions(read('NO_PROXY') ?? '');
  const loopback = { protocol: 'http:', hostname: '127.0.0.1', port: '' };
  if (isExempt(loopback))
    return ok('Proxy variables', `${set.join(', ')} set, and NO_PROXY leaves 127.0.0.1 out`);
  return warning(
    'Proxy variables',
    `${set.join(', ')} set: clients may send requests for svc to that proxy`,
    'Add 127.0.0.1 to NO_PROXY in the shell that starts the clients; `svc run` does so itself.',
  );
}

function mayAbort(nodeVersion: string): boolean {
  const from = ABORTS_FROM[Number.parseInt(nodeVersion, 10)];
  return from !== undefined && !isOlder(nodeVersion, from);
}

function isOlder(version: string, min: readonly number[]): boolean {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10));
  for (const [at, wanted] of min.entries()) {
    const part = parts[at] ?? 0;
    if (part !== wanted) return part < wanted;
  }
  return false;
}
