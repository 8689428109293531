/**
 * Converts hits as agents' own search tools list them, below a count and each file's path, to the
 * usual form, one per line with its path, and back.
 *
 *     Found 2 matches
 *     /app/src/a.ts:
 *       Line 3: import { b } from './b.ts';
 *
 *     /app/src/c.ts:
 *       Line 7: const d = 1;
 */

const COUNT = /^Found \d{1,7} match(?:es)?\b/;
const FILE = /^([^\s:][^:\n]{0,298}):$/;
const ROW = /^ {2}Line (\d{1,7}): (.*)$/s;
const HIT = /^([^\s:][^:\n]{0,298}):(\d{1,7}):(.*)$/s;

/**
 * Flattens the list to one hit a line, each with its path; undefined if the text is not such a
 * list.
 */
export function flattenHits(text: string): string | undefined {
  const lines = text.split('\n');
  if (!COUNT.test(lines[0]!)) return undefined;
  const flat: string[] = [];
  let path: string | undefined;
  lines.forEach((line, at) => {
    const row = path === undefined ? null : ROW.exec(line);
    if (row !== null) flat.push(`${path}:${row[1]}:${row[2]}`);
    else if (opensFile(lines, at)) path = FILE.exec(line)![1];
    else if (line !== '' || !opensFile(lines, at + 1)) {
      flat.push(line);
      path = undefined;
    }
  });
  return unflattenHits(flat.join('\n')) === text ? flat.join('\n') : undefined;
}

function opensFile(lines: readonly string[], at: number): boolean {
  return FILE.test(lines[at] ?? '') && ROW.test(lines[at + 1] ?? '');
}

/** Restores the list from flat hits. */
export function unflattenHits(flat: string): string {
  const out: string[] = [];
  let path: string | undefined;
  for (const line of flat.split('\n')) {
    const hit = HIT.exec(line);
    if (hit === null) {
      out.push(line);
      path = undefined;
      continue;
    }
    if (hit[1] !== path) {
      if (path !== undefined) out.push('');
      path = hit[1];
      out.push(`${path}:`);
    }
    out.push(`  Line ${hit[2]}: ${hit[3]}`);
  }
  return out.join('\n');
}
