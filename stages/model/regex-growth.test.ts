/**
 * Runs every regular expression of the program, literal or composed, on texts derived from it to be
 * slow. One that takes more than three times as long for twice the text would let a single message
 * hold up all others.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { attacksOn, textOf } from '../../fixtures/regex-attacks.ts';
import type { Attack } from '../../fixtures/regex-attacks.ts';
import { regexLiteralsOf } from '../../fixtures/regex-literals.ts';
import { BOUNDED } from '../../fixtures/regex-bounds.ts';
import type { Bound } from '../../fixtures/regex-bounds.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NO_PRODUCT = /\.d\.ts$|\.test\.ts$|-testing\.ts$/;

/** Quadratic work exceeds this well before the longest text. */
const FLOOR_MS = 5;
const MAX_GROWTH = 3.2;
/** Steps small enough that even exponential work is still quick at the step that reveals it. */
const REPEATS = [8, 16, 20, 24, 28, 32, 48, 64, 96, 128, 256, 512, 1024, 4096];
const SCREENED_CHARS = 25_000;
const MAX_CHARS = 100_000;

interface Found {
  readonly place: string;
  readonly file: string;
  readonly pattern: RegExp;
}

function sources(): string[] {
  return ['stages', 'server', 'plugins'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(
        (entry) => entry.isFile() && entry.name.endsWith('.ts') && !NO_PRODUCT.test(entry.name),
      )
      .map((entry) => join(entry.parentPath, entry.name)),
  );
}

function literalsIn(path: string): Found[] {
  const file = relative(ROOT, path);
  return regexLiteralsOf(readFileSync(path, 'utf8')).map(({ line, source, flags }) => ({
    file,
    place: `${file}:${line}`,
    pattern: new RegExp(source, flags),
  }));
}

/** Returns the expressions that modules compose when they load. */
async function composedIn(paths: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  const Original = globalThis.RegExp;
  for (const path of paths) {
    const file = relative(ROOT, path);
    if (!/^(?:export )?const \w+ = new RegExp\(/m.test(readFileSync(path, 'utf8'))) continue;
    globalThis.RegExp = new Proxy(Original, {
      construct(target, [source, flags]: [string | RegExp, string | undefined]) {
        const pattern = new target(source, flags);
        found.push({ file, place: file, pattern });
        return pattern;
      },
    });
    try {
      // Evaluated again, since another module may have imported it already.
      await import(
        `${pathToFileURL(join(ROOT, 'dist', file.replace(/\.ts$/, '.js'))).href}?composed`
      );
    } finally {
      globalThis.RegExp = Original;
    }
  }
  return found;
}

/**
 * Returns the least processor time of some rounds, in milliseconds, which excludes other processes.
 */
function timeOf(pattern: RegExp, text: string, rounds = 1): number {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    pattern.lastIndex = 0;
    const start = process.cpuUsage();
    text.replace(pattern, '');
    const { user, system } = process.cpuUsage(start);
    bestMs = Math.min(bestMs, (user + system) / 1000);
  }
  return bestMs;
}

/** Garbage collection or compilation inflates single measurements, never all of them. */
const MEASURED = 6;

/**
 * Returns the factor by which time grows from half of the text to all of it; 0 if all of it takes
 * no time.
 */
function doublingOf(pattern: RegExp, attack: Attack, repeats: number, onceMs: number): number {
  const half = timeOf(pattern, textOf(attack, Math.ceil(repeats / 2)), 3);
  const whole = onceMs > 500 ? onceMs : timeOf(pattern, textOf(attack, repeats), 3);
  return whole < FLOOR_MS ? 0 : whole / Math.max(half, 0.2);
}

/** Returns the growth of time for a text of twice the length if it is too large; else undefined. */
function growthOf(pattern: RegExp, attack: Attack, maxChars: number): number | undefined {
  const screened = Math.floor(Math.min(SCREENED_CHARS, maxChars) / attack.pump.length);
  const sizes = [...REPEATS.filter((repeats) => repeats < screened), screened];
  for (let repeats = sizes.shift(); repeats !== undefined; repeats = sizes.shift()) {
    const once = timeOf(pattern, textOf(attack, repeats));
    if (once < FLOOR_MS) continue;
    let growth = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < MEASURED && growth >= MAX_GROWTH; tries += 1)
      growth = Math.min(growth, doublingOf(pattern, attack, repeats, once));
    if (growth >= MAX_GROWTH) return growth;
    const doubled = repeats * 2;
    if (sizes.length === 0 && doubled * attack.pump.length <= Math.min(MAX_CHARS, maxChars))
      sizes.push(doubled);
  }
  return undefined;
}

test('runs every regular expression in at most linear time', async () => {
  const paths = sources();
  const found = [...paths.flatMap(literalsIn), ...(await composedIn(paths))];
  assert.ok(found.length > 600, `${found.length} patterns`);
  const slow: string[] = [];
  const used = new Set<Bound>();
  for (const { file, place, pattern } of found) {
    const bound = BOUNDED.find(
      (each) => each.file === file && pattern.source.startsWith(each.start),
    );
    if (bound !== undefined) used.add(bound);
    for (const attack of attacksOn(pattern)) {
      const growth = growthOf(pattern, attack, bound?.chars ?? MAX_CHARS);
      if (growth === undefined) continue;
      slow.push(
        `${place} ${String(pattern)} grew ${growth.toFixed(1)} times on ${JSON.stringify(attack)}`,
      );
      break;
    }
  }
  assert.equal(slow, []);
  const unused = BOUNDED.filter((bound) => !used.has(bound));
  assert.equal(unused, []);
});

test.run();
