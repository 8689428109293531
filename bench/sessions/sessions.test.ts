/** The parts of recorded sessions, without a client: times, plans, the agent's steps. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom } from '../../fixtures/random.ts';
import { agent } from './agent.ts';
import type { Call, Step } from './agent.ts';
import { createSessionClock, toSessionTimeJson, toSessionTimeLine } from './clock.ts';
import { planOf } from './plan.ts';
import { makeTree } from './tree.ts';
import type { Tree } from './tree.ts';

test('times that a client recorded after a clock jump are shifted by it, and nothing else changes', () => {
  const startMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  let realMs = startMs;
  const clock = createSessionClock(() => realMs);
  const line = (atMs: number): string =>
    `{"timestamp":"${new Date(atMs).toISOString()}","text":"at \\"timestamp\\":\\"2026-01-02T03:04:05.000Z\\""}`;
  const json = (atMs: number): string =>
    `{"time":{"created":${atMs},"completed":${atMs}},"n":1767322000000}`;
  realMs += 100;
  clock.advance(600_000);
  assert.is(clock.now(), startMs + 600_100);
  assert.is(toSessionTimeLine(line(startMs + 99), clock), line(startMs + 99));
  assert.is(toSessionTimeLine(line(startMs + 100), clock), line(startMs + 600_100));
  assert.is(toSessionTimeJson(json(startMs + 200), clock), json(startMs + 600_200));
});

test('a seed determines the plan: lengths and pauses stay within bounds, and every task occurs', () => {
  const plans = Array.from({ length: 200 }, (_, n) => planOf(n));
  assert.equal(planOf(7), plans[7]);
  assert.is(new Set(plans.map(({ task }) => task)).size, 5);
  const lengths = plans.map(({ turns }) => turns.reduce((sum, one) => sum + one, 0));
  assert.ok(lengths.every((length) => length >= 10 && length <= 150));
  const pauses = plans.flatMap(({ pausesMs }) => pausesMs);
  assert.ok(pauses.every((ms) => ms >= 30_000 && ms <= 27 * 60_000));
  const long = pauses.filter((ms) => ms > 300_000).length / pauses.length;
  assert.ok(long > 0.35 && long < 0.5, `${long} of the pauses outlast the cache`);
});

/** Carries out a call as a client does. */
function carryOut(call: Call, tree: Tree): void {
  if (call.kind === 'read') assert.ok(tree.text(call.path).length > 0, call.path);
  if (call.kind !== 'edit' && call.kind !== 'write') return;
  const file = join(tree.folder, call.path);
  mkdirSync(dirname(file), { recursive: true });
  if (call.kind === 'write') writeFileSync(file, call.text);
  else {
    const text = tree.text(call.path);
    assert.is(text.split(call.before).length, 2, call.path);
    writeFileSync(
      file,
      text.replace(call.before, () => call.after),
    );
  }
}

test('the agent reads and edits existing files, turn by turn', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-agent-test-'));
  try {
    const tree = makeTree('ws', join(folder, 'ws'));
    const turns = [12, 9];
    const steps = agent(createRandom(5), tree, 'refactor', () => turns.shift() ?? 1);
    const seen: Step[] = [];
    for (let n = 0; n < 23; n++) {
      const step = steps.next().value;
      seen.push(step);
      for (const call of step.calls) carryOut(call, tree);
    }
    assert.equal(
      seen.flatMap(({ calls }, at) => (calls.length === 0 ? [at] : [])),
      [12, 22],
      'answers without a call end the turns',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
