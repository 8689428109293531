/** Stores the result of the newest certificate in the home folder, for alerts. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../stages/dialect/json-kind.ts';
import { replaceFile } from '../../stages/private-file.ts';

const fileIn = (home: string): string => join(home, 'certificate.json');

interface CertificateSummary {
  readonly checks: readonly { readonly name: string; readonly holds: boolean }[];
  /** Sessions read on this machine. */
  readonly sessions: number;
}

/**
 * Stores the number of broken promises; does nothing if there is no home folder. Rejects with file
 * system errors.
 */
export async function storeResult(
  home: string,
  { checks, sessions }: CertificateSummary,
  atMs: number,
): Promise<void> {
  if (!existsSync(home)) return;
  const broken = checks.filter(({ holds }) => !holds).map(({ name }) => name);
  const result = { at: new Date(atMs).toISOString(), sessions, broken };
  await replaceFile(fileIn(home), (draft) => draft.writeFile(`${JSON.stringify(result)}\n`));
}

/**
 * Returns the stored number of broken promises; null if there is none. Throws file system errors.
 */
export function readBrokenPromises(home: string): number | null {
  const file = fileIn(home);
  if (!existsSync(file)) return null;
  const result: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isObject(result) && Array.isArray(result['broken']) ? result['broken'].length : null;
}
