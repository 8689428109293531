/** Steps on files, and the checks before a macro does anything. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMPRESS, LOG, macro, runSteps, withRecipe } from '../../fixtures/cli/macros.ts';
import { inPlace } from '../../fixtures/cli/run.ts';
import { exitCodes } from '../exit.ts';

test('compress writes a new private file, and needs no proxy', () =>
  withRecipe(async (place) => {
    const dry = await runSteps(place, [COMPRESS], '--dry-run');
    assert.is(dry.code, 0, dry.stderr);
    assert.not.ok(fs.existsSync(join(place.folder, 'small.log')), 'nothing is written');
    const ran = await runSteps(place, [COMPRESS]);
    assert.is(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /small\.log is written: \d+ → \d+ tokens/);
    const small = fs.readFileSync(join(place.folder, 'small.log'), 'utf8');
    assert.match(small, /warning: a slow disk/);
    assert.not.match(small, /step 12/);
    assert.is(fs.statSync(join(place.folder, 'small.log')).mode & 0o777, 0o600);
    assert.is(fs.readFileSync(join(place.folder, 'build.log'), 'utf8'), LOG);
    const again = await runSteps(place, [COMPRESS]);
    assert.is(again.code, exitCodes.conflict);
    assert.match(again.stderr, /nothing was done\n.*small\.log already exists\n--replace/);
    assert.is((await runSteps(place, [COMPRESS], '--replace')).code, 0);
  }));

test('an impossible step is reported before any step is run', () =>
  withRecipe(async (place) => {
    const cases: readonly (readonly [step: string, reason: RegExp, code: number])[] = [
      ['compress: { file: none.log, recipe: pytest, to: a }', /There is no file none\.log/, 5],
      ['compress: { file: build.log, recipe: nobody, to: a }', /There is no recipe "nobody"/, 5],
      ['compress: { file: build.log, recipe: pytest, to: ../a }', /not below the folder/, 7],
      ['compress: { file: build.log, recipe: pytest, to: /tmp/a }', /not below the folder/, 7],
      ['compress: { file: build.log, recipe: pytest, to: no/where }', /does not exist/, 5],
      ['ingest: { file: home }', /home is a folder/, 8],
      ['pause', /svc is not running/, 3],
    ];
    for (const [step, reason, code] of cases) {
      const ran = await runSteps(place, [COMPRESS, step]);
      assert.match(ran.stderr, reason);
      assert.match(ran.stderr, /step 2 \(\w+\): /);
      assert.is(ran.code, code, step);
      assert.not.ok(fs.existsSync(join(place.folder, 'small.log')), `${step}: nothing was done`);
    }
    // A link inside the folder must not lead out of it.
    fs.mkdirSync(join(place.folder, 'inside'));
    const linked = { ...place, folder: join(place.folder, 'inside') };
    fs.symlinkSync(place.folder, join(linked.folder, 'out'));
    const ran = await runSteps(linked, [
      'compress: { file: ../build.log, recipe: ../my-tool.yaml, to: out/small.log, command: my-tool build }',
    ]);
    assert.match(ran.stderr, /not below the folder/);
  }));

test('a fault in a step given on the command line is reported with its position', () =>
  inPlace(async (place) => {
    for (const [step, reason] of [
      ['nonsense', /- --step 2: .*"nonsense" is not an action/],
      ['debug: { on: ', /- --step 2: /],
    ] as const) {
      const { code, stderr } = await macro(place, 'create', 'm', '--step', 'pause', '--step', step);
      assert.is(code, exitCodes.bad_request, stderr);
      assert.match(stderr, reason);
    }
  }));

test('a step may use the output of an earlier one, and an unsuitable recipe fails', () =>
  withRecipe(async (place) => {
    const chained = await runSteps(place, [
      COMPRESS,
      'compress: { file: small.log, recipe: [my-tool.yaml, pytest], to: smaller.log, command: pytest }',
    ]);
    assert.is(chained.code, exitCodes.unprocessable);
    assert.match(
      chained.stderr,
      /stopped at step 2 of 2 \(compress\): small\.log is left as it is/,
    );
    assert.match(chained.stderr, /done: step 1 \(compress\); deleting small\.log undoes it/);
    const resumed = await macro(place, 'run', 'm', '--from', '2', '--dry-run');
    assert.match(resumed.stdout, /1 of 2 +compress +is skipped/);
  }));

test.run();
