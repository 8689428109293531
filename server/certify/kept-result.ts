/** What the newest certificate of this machine said, in the home folder, for alerts. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../stages/dialect/json-kind.ts';
import { replaceFile } from '../../stages/private-file.ts';

const fileIn = (home: string): string => join(home, 'certificate.json');

interface Judged {
  readonly checks: readonly { readonly name: string; readonly holds: boolean }[];
  /** Read from this machine. */
  readonly sessions: number;
}

/** Keeps how many promises are broken; nothing where there is no home folder. Rejects with what the disk says. */
export async function keepResult(
  home: string,
  { checks, sessions }: Judged,
  atMs: number,
): Promise<void> {
  if (!existsSync(home)) return;
  const broken = checks.filter(({ holds }) => !holds).map(({ name }) => name);
  const result = { at: new Date(atMs).toISOString(), sessions, broken };
  await replaceFile(fileIn(home), (draft) => draft.writeFile(`${JSON.stringify(result)}\n`));
}

/** How many promises it found broken; null where there was none. Throws what the disk says. */
export function readBrokenPromises(home: string): number | null {
  const file = fileIn(home);
  if (!existsSync(file)) return null;
  const result: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isObject(result) && Array.isArray(result['broken']) ? result['broken'].length : null;
}
