/** Deleting what svc keeps, and nothing else that lies in the same folder. */
import { readdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** Names that svc gives in its home folder. */
const NAMES = [
  'config.yaml',
  'monitor.db',
  'keys.json',
  'decisions.jsonl',
  'integrations.json',
  'learned.json',
  'routes.json',
  'telemetry.jsonl',
  'backups',
  'captures',
  'logs',
  'svc.pid',
  'control.sock',
  'blocks.jsonl',
  'blocks.db',
  'index.lock',
  'append.lock',
  'sync.lock',
  'calibration.json',
];

/**
 * Deletes every entry of `home` that is svc's, with what SQLite, locks and damage appended to its
 * name, and then the folder if nothing is left. Returns what stays: a folder that SVC_HOME names by
 * mistake holds other things.
 */
export function deleteData(home: string): readonly string[] {
  const isOurs = (name: string) =>
    NAMES.some(
      (one) => name === one || (/^[.-]/.test(name.slice(one.length)) && name.startsWith(one)),
    );
  let names: readonly string[];
  try {
    names = readdirSync(home);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cause;
  }
  for (const name of names)
    if (isOurs(name)) rmSync(join(home, name), { recursive: true, force: true });
  const left = readdirSync(home);
  if (left.length === 0) rmdirSync(home);
  return left;
}
