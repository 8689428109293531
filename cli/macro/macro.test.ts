/**
 * Macros from the command line: their files, their faults, their variables, and those of plugins.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { macro } from '../../fixtures/cli/macros.ts';
import { inPlace, run, write } from '../../fixtures/cli/run.ts';
import { exitCodes } from '../exit.ts';

test('a macro is stored privately, shown as written, listed and deleted', () =>
  inPlace(async (place) => {
    write(
      place,
      'mine.yaml',
      '# mine\nvariables: { who: , how: fast }\nsteps: [ingest: { file: "{{who}}-{{how}}" }]\n',
    );
    const created = await macro(place, 'create', 'mine', 'mine.yaml');
    assert.is(created.code, 0, created.stderr);
    const file = join(place.home, 'macros', 'mine.yaml');
    assert.is(fs.statSync(file).mode & 0o777, 0o600);
    assert.is(fs.statSync(join(place.home, 'macros')).mode & 0o777, 0o700);
    const printed = await macro(place, 'show', 'mine');
    assert.is(printed.stdout, fs.readFileSync(join(place.folder, 'mine.yaml'), 'utf8'));
    const { macros } = JSON.parse((await macro(place, 'list', '--json')).stdout) as {
      macros: readonly object[];
    };
    assert.equal(macros, [
      {
        name: 'mine',
        origin: 'own',
        plugin: null,
        file,
        description: '',
        variables: [
          { name: 'who', required: true, default: null, about: null },
          { name: 'how', required: false, default: 'fast', about: null },
        ],
        steps: 1,
        stage: false,
        faults: [],
      },
    ]);
    const again = await macro(place, 'create', 'mine', 'mine.yaml');
    assert.is(again.code, exitCodes.conflict);
    assert.match(again.stderr, /There is a macro mine already\n--force replaces it/);
    assert.is((await macro(place, 'delete', 'mine')).code, 0);
    assert.not.ok(fs.existsSync(file));
    assert.match((await macro(place, 'list')).stderr, /There is no macro/);
  }));

test('the macro that create writes without a file runs, and stdin counts as a file', () =>
  inPlace(async (place) => {
    assert.is((await macro(place, 'create', 'begin')).code, 0);
    const dry = await macro(place, 'run', 'begin', '--dry-run');
    assert.match(dry.stdout, /1 of 2 {2}pause {2}would send every request unchanged/);
    const stdin = Readable.from(['steps: [pause]']);
    const piped = await run(place, ['macro', 'create', 'piped', '-'], { stdin });
    assert.is(piped.code, 0, piped.stderr);
  }));

test('a faulty macro is refused with each fault on its line, and is not stored', () =>
  inPlace(async (place) => {
    write(
      place,
      'bad.yaml',
      [
        'variables:',
        '  unused: 1',
        'steps:',
        '  - pausee',
        '  - debug: { onn: true }',
        '  - force_health:',
        '      provider: messages',
        '      state: sick',
        '  - search: { query: "{{nope}}", top: 500 }',
        'other: 1',
      ].join('\n'),
    );
    const ran = await macro(place, 'create', 'bad', 'bad.yaml');
    assert.is(ran.code, exitCodes.bad_request);
    for (const fault of [
      'bad.yaml:4: step 1 "pausee" is not an action; known are recipes, settings,',
      'bad.yaml:5: step 2 (debug): onn is not a parameter; known are on',
      'bad.yaml:5: step 2 (debug) needs on: true or false',
      'bad.yaml:8: step 3 (force_health): state is healthy or unhealthy, not "sick"',
      'bad.yaml:9: step 4 (search): query names the variable nope, which variables does not declare',
      'bad.yaml:9: step 4 (search): top is a number from 1 to 100, not 500',
      'bad.yaml:10: other is not a macro field',
    ])
      assert.ok(ran.stderr.includes(`  - ${fault}`), `${fault}\n${ran.stderr}`);
    assert.not.ok(fs.existsSync(join(place.home, 'macros', 'bad.yaml')));
    for (const [text, reason] of [
      ['steps: [pause]\nvariables: { x: 1 }', /x\.yaml:2: variables\.x is used in no step/],
      ['steps: []', /x\.yaml:1: steps is a list of 1 to 100 steps/],
      ['steps: [{ run: "rm -rf ~" }]', /step 1 \(run\) is not an action/],
      ['steps: [pause', /x\.yaml:\d/],
      ['- pause', /not a macro/],
      [`steps: [search: { query: "a\\u001b[2J" }]`, /query is one line of text/],
    ] as const) {
      write(place, 'x.yaml', text);
      const refused = await macro(place, 'create', 'x', 'x.yaml');
      assert.is(refused.code, exitCodes.bad_request, text);
      assert.match(refused.stderr, reason);
      assert.not.match(refused.stderr, /load config/);
    }
    for (const argv of [
      ['create', '../x', 'bad.yaml'],
      ['show', '../x'],
      ['run', 'X'],
      ['delete', '../../x'],
    ])
      assert.match((await macro(place, ...argv)).stderr, /cannot be the name of a macro/);
  }));

test('a file broken by hand is listed with its fault, and does not run', () =>
  inPlace(async (place) => {
    await macro(place, 'create', 'broken');
    await macro(place, 'create', 'sound');
    fs.writeFileSync(join(place.home, 'macros', 'broken.yaml'), 'steps:\n  - pause\n  - pausse\n');
    const listed = await macro(place, 'list');
    assert.is(listed.code, 1);
    assert.match(listed.stdout, /broken .*cannot be used: .*broken\.yaml:3: step 2 "pausse"/);
    assert.match(listed.stdout, /sound/);
    for (const flags of [[], ['--json']])
      assert.is((await macro(place, 'show', 'broken', ...flags)).code, 1, `show ${flags[0] ?? ''}`);
    fs.writeFileSync(join(place.home, 'macros', 'huge.yaml'), '#'.repeat(300 * 1024));
    assert.match((await macro(place, 'list')).stdout, /huge .*larger than.*\n.*sound/);
    const ran = await macro(place, 'run', 'broken');
    assert.is(ran.code, exitCodes.bad_request);
    assert.match(ran.stderr, /broken\.yaml:3: step 2 "pausse" is not an action/);
    assert.match((await macro(place, 'run', 'sounds')).stderr, /did you mean sound\?/);
  }));

test('missing and unknown variables are named, with the way to set them', () =>
  inPlace(async (place) => {
    write(
      place,
      'v.yaml',
      'variables: { log: { about: the log of the build } }\nsteps: [ingest: { file: "{{log}}" }]',
    );
    await macro(place, 'create', 'v', 'v.yaml');
    const missing = await macro(place, 'run', 'v', '--var', 'lgo=x');
    assert.is(missing.code, exitCodes.bad_request);
    assert.match(missing.stderr, /Macro v has no variable lgo, needs a value for log/);
    assert.match(missing.stderr, /--var log=… \(the log of the build\)/);
    assert.is((await macro(place, 'run', 'v', '--var', 'log')).code, exitCodes.usage);
    const dry = await macro(place, 'run', 'v', '--var', 'log={{log}}', '--dry-run');
    assert.match(dry.stdout, /would add \{\{log\}\} to the vault/, 'a value is data');
  }));

test('the macro of a plugin is listed with its origin, runs, and cannot be deleted', () =>
  inPlace(async (place) => {
    write(
      place,
      'calm.mjs',
      "export default { name: 'calm', macros: [{ name: 'hush', description: 'Quiet', variables: { logs: 'false' }, steps: ['resume', { debug: { on: '{{logs}}' } }] }] };",
    );
    write(place, 'svc.yaml', `plugins: [{ module: ${join(place.folder, 'calm.mjs')} }]\n`);
    const flags = ['--config', 'svc.yaml'];
    const listed = await macro(place, 'list', ...flags);
    assert.match(listed.stdout, /hush +plugin calm +logs=false +Quiet/);
    const dry = await macro(place, 'run', 'hush', '--dry-run', ...flags);
    assert.match(dry.stdout, /2 of 2 +debug +would stop logging/);
    const copy = await macro(place, 'show', 'hush', ...flags);
    const stdin = Readable.from([copy.stdout]);
    const own = await run(place, ['macro', 'create', 'hush', '-'], { stdin });
    assert.is(own.code, 0, own.stderr);
    assert.match((await macro(place, 'list', ...flags)).stdout, /hush +own/);
    await macro(place, 'delete', 'hush');
    const env = { ...place.env };
    fs.mkdirSync(place.home, { recursive: true });
    fs.copyFileSync(join(place.folder, 'svc.yaml'), join(place.home, 'config.yaml'));
    const kept = await run(place, ['macro', 'delete', 'hush'], { env });
    assert.is(kept.code, exitCodes.conflict);
    assert.match(kept.stderr, /comes from the plugin calm/);
    write(
      place,
      'calm.mjs',
      "export default { name: 'calm',\n macros: [{ name: 'hush',\n steps: ['resum'] }] };",
    );
    const broken = await macro(place, 'list', ...flags);
    assert.is(broken.code, 1);
    assert.match(
      broken.stderr,
      /^ {2}- .*calm\.mjs:3: macros\[0\]: step 1 "resum" is not an action/m,
    );
  }));

test.run();
