import { mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock } from '../../engine/index.ts';
import { MIN_SAMPLES, openLearned } from './learned.ts';
import type { Learned } from './learned.ts';
import { toRules } from './rules.ts';

function makePlace() {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-learned-')), 'learned.json');
  const clock = createManualClock();
  const problems: Error[] = [];
  const open = () => openLearned({ file, clock, onProblem: (error) => void problems.push(error) });
  return { file, clock, problems, open };
}

const flat = {
  mode: 'hybrid',
  kind: 'json',
  toolName: 'api call',
  tokensBefore: 1000,
  tokensAfter: 995,
};
const good = { ...flat, kind: 'log', tokensAfter: 300 };

function feed(learned: Learned, sample: typeof flat, count: number): void {
  for (let n = 0; n < count; n++) learned.learnBlocks([sample]);
}

test('apply freezes skip rules only for output that compression does not shrink', async () => {
  const { open } = makePlace();
  const learned = await open();
  feed(learned, good, MIN_SAMPLES);
  feed(learned, flat, MIN_SAMPLES - 1);
  assert.is(learned.applied, undefined);
  assert.equal(learned.apply().applied?.skip, []);
  feed(learned, flat, 1);
  const before = learned.applied;
  assert.ok(learned.status().patterns.some(({ kind, wouldSkip }) => kind === 'json' && wouldSkip));
  assert.is(learned.applied, before, 'learning alone changes nothing');
  const { applied } = learned.apply();
  assert.equal(applied?.skip, [{ mode: 'hybrid', kind: 'json', toolName: 'api call' }]);
  assert.equal(learned.applied?.skip, ['hybrid json api call']);
});

test('text pasted by a user gives figures but never a rule', async () => {
  const learned = await makePlace().open();
  const pasted = { ...flat, toolName: null };
  for (let n = 0; n < 3 * MIN_SAMPLES; n++) learned.learnBlocks([pasted]);
  assert.equal(learned.apply().applied?.skip, []);
});

test('the rules of running conversations outlive later rules, a reset and a restart', async () => {
  const { open } = makePlace();
  const learned = await open();
  feed(learned, flat, MIN_SAMPLES);
  learned.apply();
  const { id, skip } = learned.applied!;
  learned.reset();
  assert.is(learned.applied, undefined);
  assert.equal(learned.status().patterns, []);
  assert.equal(learned.rules(id)?.skip, skip);
  await learned.flush();
  const again = await open();
  assert.equal(again.rules(id)?.skip, skip);
  assert.is(again.applied, undefined);
});

test('the token ratio is learned by model, and an impossible figure is ignored', async () => {
  const learned = await makePlace().open();
  assert.is(learned.tokenRatio('m'), 1);
  learned.learnTokens('m', 1200, () => 1000);
  learned.learnTokens('m', 90_000, () => 1000);
  learned.learnTokens('m', 5, () => 1000);
  assert.ok(Math.abs(learned.tokenRatio('m') - 1.2) < 1e-9);
  assert.is(learned.tokenRatio('other'), 1);
  assert.is(learned.tokenRatio(null), 1);
});

test('the newest samples have the most weight', async () => {
  const learned = await makePlace().open();
  for (let n = 0; n < 500; n++) learned.learnTokens('m', 1000, () => 1000);
  for (let n = 0; n < 2000; n++) learned.learnTokens('m', 2000, () => 1000);
  assert.ok(learned.tokenRatio('m') > 1.8);
  const { samples } = learned.status().models[0]!;
  assert.ok(samples > 20 && samples < 400, `${samples} of 2500 were estimated`);
});

test('names invented by clients do not accumulate', async () => {
  const learned = await makePlace().open();
  for (let n = 0; n < 5000; n++) {
    learned.learnBlocks([{ ...flat, toolName: `tool${n}` }]);
    learned.learnTokens(`model${n}`, 10, () => 10);
  }
  const { patterns, models } = learned.status();
  assert.is(patterns.length, 500);
  assert.is(models.length, 100);
  assert.ok(patterns.some(({ toolName }) => toolName === 'tool4999'));
});

test('the file is private, written after a delay and read at the start', async () => {
  const { file, clock, open } = makePlace();
  const learned = await open();
  feed(learned, good, 3);
  assert.throws(() => statSync(file), 'nothing is written immediately');
  clock.advance(5001);
  await learned.flush();
  assert.is(statSync(file).mode & 0o777, 0o600);
  const again = await open();
  assert.equal(again.status(), learned.status());
});

test('a damaged file is reported, and learning starts again', async () => {
  const { file, problems, open } = makePlace();
  writeFileSync(file, '{"format":1,"patterns":[["hybrid log Bash",{"samp');
  const learned = await open();
  assert.is(problems.length, 1);
  assert.match(String(problems[0]), /learned\.json cannot be read: .*JSON.*; it was moved to/);
  const aside = readdirSync(dirname(file)).find((name) => name.startsWith('learned.json.corrupt-'));
  assert.match(readFileSync(join(dirname(file), aside!), 'utf8'), /\{"samp$/);
  assert.equal(learned.status(), { patterns: [], models: [], applied: null });
  feed(learned, good, 1);
  await learned.flush();
  assert.ok(readFileSync(file, 'utf8').includes('hybrid log'));
});

test('an impossible time of applying rules is unknown', async () => {
  const { file, clock, problems, open } = makePlace();
  const nowMs = clock.wallMs();
  const times = [1e300, 9e15, nowMs + 2 * 86_400_000, -1, '2026', nowMs, nowMs - 3e10];
  const read: unknown[] = [];
  for (const appliedMs of times) {
    const applied = toRules([]).id;
    const document = { format: 1, applied, applied_ms: appliedMs, rules: [[]] };
    writeFileSync(file, JSON.stringify(document));
    read.push((await open()).status().applied?.atMs);
  }
  assert.equal(read, [null, null, null, null, null, nowMs, nowMs - 3e10]);
  assert.equal(problems, []);
});

test('invalid entries are left out', async () => {
  const { file, open } = makePlace();
  const patterns = [
    ['hybrid log Bash', { samples: 2, over: 10, under: 100 }],
    ['hybrid log Other', { samples: 'two', over: 10, under: 100 }],
    [7, {}],
  ];
  writeFileSync(
    file,
    JSON.stringify({ format: 1, patterns, models: 'none', rules: [['a b c'], 3] }),
  );
  const { patterns: read } = (await open()).status();
  assert.equal(
    read.map(({ toolName, saved }) => [toolName, saved]),
    [['Bash', 0.9]],
  );
});

test.run();
