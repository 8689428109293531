/**
 * Measures the memory that hostile requests leave in use, and how soon a proxy responds after them.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { withProxy } from '../../fixtures/proxy.ts';
import { MESSAGE, exchange, json } from '../../fixtures/server/exchange.ts';
import { minOf } from './limit.ts';
import type { LimitGroup, Measured } from './limit.ts';

const FUZZ = fileURLToPath(new URL('../../server/tests/streams/fuzz.test.js', import.meta.url));
/** Far more than a process needs if it keeps nothing of its requests. */
const FUZZ_MB = 600;
const NAME_BYTES = 4 * 2 ** 20;
const NAMES = 50;
const TRACES_MS = 500;
const REFUSED_MS = 2000;

async function measureFuzzMemory(): Promise<readonly Measured[]> {
  const { stdout } = spawnSync(process.execPath, [FUZZ], { encoding: 'utf8' });
  const sizes = [...stdout.matchAll(/RSS (\d+) MB/g)].map(([, size]) => Number(size));
  const value = sizes.length === 0 ? Number.NaN : Math.max(...sizes);
  return [{ what: 'resident memory after 1,500 odd requests', unit: 'MB', max: FUZZ_MB, value }];
}

async function measureTraceList(): Promise<readonly Measured[]> {
  let value = Number.NaN;
  await withProxy({}, async (t) => {
    for (let at = 0; at < NAMES; at += 1) {
      const model = `${at}-`.padEnd(NAME_BYTES, 'm');
      await exchange(t.proxy.port, { body: json(MESSAGE, { model }) });
    }
    value = await minOf(3, async () => {
      const startedMs = performance.now();
      await exchange(t.proxy.port, { method: 'GET', path: '/traces' });
      return performance.now() - startedMs;
    });
  });
  const what = '/traces after fifty names of four megabytes';
  return [{ what, unit: 'ms', max: TRACES_MS, value }];
}

/** Bodies that would keep a parser busy for long. */
const REFUSED_BODIES: Readonly<Record<string, string>> = {
  'a body of nothing but brackets': '['.repeat(2_000_000),
  'a body that breaks off after ten megabytes': `{"model":"${'a'.repeat(10_000_000)}`,
};

async function measureRefusals(): Promise<readonly Measured[]> {
  const found: Measured[] = [];
  await withProxy({}, async (t) => {
    for (const [name, body] of Object.entries(REFUSED_BODIES)) {
      const value = await minOf(3, async () => {
        const startedMs = performance.now();
        const { status } = await exchange(t.proxy.port, { body });
        if (status < 400) throw new Error(`${name} was answered with ${status}`);
        return performance.now() - startedMs;
      });
      found.push({ what: `${name} is refused`, unit: 'ms', max: REFUSED_MS, value });
    }
  });
  return found;
}

/** Wall time and memory. */
export const HOSTILE_REQUEST_LIMITS: readonly LimitGroup[] = [
  { name: 'odd requests: names', measure: measureTraceList },
  { name: 'odd requests: refused bodies, best of three', measure: measureRefusals },
  { name: 'odd requests: memory', measure: measureFuzzMemory },
];
