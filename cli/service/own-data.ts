/** Deletes the data of svc, and nothing else in the same folder. */
import { readdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** Names that svc uses in its home folder. */
const NAMES = [
  'config.yaml',
  'monitor.db',
  'keys.json',
  'decisions.jsonl',
  'statusline.json',
  'limits.json',
  'deferred-bills.json',
  'integrations.json',
  'config-source.json',
  'forward',
  'alerts.json',
  'certificate.json',
  'learned.json',
  'routes.json',
  'fleet.yaml',
  'telemetry.jsonl',
  'audit.jsonl',
  'audit.head',
  'audit.key',
  'audit.lock',
  'backups',
  'captures',
  'answers',
  'templates',
  'macros',
  '.index',
  'logs',
  'svc.pid',
  'monitor.pid',
  'control.sock',
  'blocks.jsonl',
  'blocks.db',
  'index.lock',
  'append.lock',
  'sync.lock',
  'calibration.json',
];

/**
 * True for an entry of the home folder that belongs to svc, including files that SQLite, locks and
 * repairs create next to it.
 */
export function isOwnData(name: string): boolean {
  return NAMES.some(
    (one) => name === one || (/^[.-]/.test(name.slice(one.length)) && name.startsWith(one)),
  );
}

/**
 * Deletes every entry of `home` that belongs to svc, and then the folder if it is empty. Returns
 * the remaining names: a folder mistakenly used as SVC_HOME contains other things.
 */
export function deleteData(home: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(home);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cause;
  }
  for (const name of names)
    if (isOwnData(name)) rmSync(join(home, name), { recursive: true, force: true });
  const left = readdirSync(home);
  if (left.length === 0) rmdirSync(home);
  return left;
}
