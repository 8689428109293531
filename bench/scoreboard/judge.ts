/**
 * Runs the test of a row: unchanged, when it must be green, and with the defect, when it must be
 * red.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { Row } from './row.ts';
import { compiledFile } from './sabotage.ts';
import type { copyBuild } from './sabotage.ts';

/** `unproven`: the defect could not be planted, or the test did not finish. */
export type Verdict = 'green' | 'red' | 'unproven';

export interface Judged {
  readonly id: string;
  readonly asItIs: Verdict;
  readonly sabotaged: Verdict;
  /** Why the result is not as required; empty if it is. */
  readonly because: string;
}

/** The test is green, and red with the defect. */
export const isSound = ({ asItIs, sabotaged }: Pick<Judged, 'asItIs' | 'sabotaged'>): boolean =>
  asItIs === 'green' && sabotaged === 'red';

const BUILD = fileURLToPath(new URL('../..', import.meta.url));
/**
 * The time limit with a defect, as a multiple of the time without: a test that hangs has noticed
 * the defect.
 */
const MAX_TIME_FACTOR = 10;
const MIN_LIMIT_MS = 30_000;

interface Ended {
  readonly code: number | null;
  /** Names of the failed tests, as the runner prints them. */
  readonly failed: readonly string[];
  readonly passed: number;
  readonly durationMs: number;
}

export async function judge(row: Row, copy: ReturnType<typeof copyBuild>): Promise<Judged> {
  const unchanged = await run(BUILD, row);
  const asItIs = unchanged.code === 0 && unchanged.passed > 0 ? 'green' : 'red';
  const found = { id: row.id, asItIs, sabotaged: 'unproven' } as const;
  if (asItIs === 'red')
    return { ...found, because: `${row.file} is red: ${unchanged.failed.join(', ')}` };
  let mend: () => void;
  try {
    mend = await copy.plant(row.sabotage);
  } catch (thrown) {
    return { ...found, because: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  const limitMs = Math.max(MIN_LIMIT_MS, MAX_TIME_FACTOR * unchanged.durationMs);
  const broken = await run(copy.folder, row, limitMs).finally(mend);
  const isNoticed = broken.failed.some((name) => name.includes(row.test));
  if (isNoticed) return { ...found, sabotaged: 'red', because: '' };
  if (broken.code === null) return { ...found, sabotaged: 'red', because: '' };
  const others = broken.failed.length === 0 ? 'nothing failed' : `red: ${broken.failed.join(', ')}`;
  const sabotaged = broken.code === 0 ? 'green' : 'unproven';
  return { ...found, sabotaged, because: `with the defect, ${others}` };
}

function run(build: string, { file }: Row, limitMs?: number): Promise<Ended> {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(build, compiledFile(file))], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const timer =
      limitMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), limitMs);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      const plain = stripVTControlCharacters(text);
      resolve({
        code,
        failed: [...plain.matchAll(/^\s*FAIL\s.*?"(.*)"\s*$/gm)].map(([, name]) => name!),
        durationMs: performance.now() - startMs,
        passed: Number(/^\s*Passed:\s+(\d+)/m.exec(plain)?.[1] ?? 0),
      });
    });
  });
}
