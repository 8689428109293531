/** Macros from the command line: their files, their faults, and what each action does to a proxy that runs. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import type { Place, Ran } from '../../fixtures/cli/run.ts';
import { closeClients, exchange, json, MESSAGE } from '../../fixtures/server/exchange.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { ACTIONS } from '../../stages/macros/actions.ts';
import { exitCodes } from '../exit.ts';

test.after(closeClients);

async function inPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const place = makePlace();
  try {
    await use(place);
  } finally {
    place.dispose();
  }
}

const write = (place: Place, name: string, text: string): void =>
  fs.writeFileSync(join(place.folder, name), text, { mode: 0o600 });

const macro = (place: Place, ...argv: readonly string[]): Promise<Ran> =>
  run(place, ['macro', ...argv]);

/** Keeps steps as the macro `m`, and runs it. */
async function runSteps(
  place: Place,
  steps: readonly string[],
  ...flags: readonly string[]
): Promise<Ran> {
  const kept = await macro(
    place,
    'create',
    'm',
    '--force',
    ...steps.flatMap((step) => ['--step', step]),
  );
  assert.is(kept.code, 0, kept.stderr);
  return macro(place, 'run', 'm', ...flags);
}

test('a macro is kept privately, shown as it was written, listed and deleted', () =>
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
    const shown = await macro(place, 'show', 'mine');
    assert.is(shown.stdout, fs.readFileSync(join(place.folder, 'mine.yaml'), 'utf8'));
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

test('what create writes without a file can be run, and stdin is a file too', () =>
  inPlace(async (place) => {
    assert.is((await macro(place, 'create', 'begin')).code, 0);
    const dry = await macro(place, 'run', 'begin', '--dry-run');
    assert.match(dry.stdout, /1 of 2 {2}pause {2}would send every request unchanged/);
    const stdin = Readable.from(['steps: [pause]']);
    const piped = await run(place, ['macro', 'create', 'piped', '-'], { stdin });
    assert.is(piped.code, 0, piped.stderr);
  }));

test('a faulty macro is refused with each fault on its line, and not kept', () =>
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
      'bad.yaml:4: step 1 "pausee" is no action; known are compress,',
      'bad.yaml:5: step 2 (debug): onn is no parameter; known are on',
      'bad.yaml:5: step 2 (debug) needs on: true or false',
      'bad.yaml:8: step 3 (force_health): state is healthy or unhealthy, not "sick"',
      'bad.yaml:9: step 4 (search): query names the variable nope, which variables does not declare',
      'bad.yaml:9: step 4 (search): top is a number from 1 to 100, not 500',
      'bad.yaml:10: other is no part of a macro',
    ])
      assert.ok(ran.stderr.includes(`  - ${fault}`), `${fault}\n${ran.stderr}`);
    assert.not.ok(fs.existsSync(join(place.home, 'macros', 'bad.yaml')));
    for (const [text, reason] of [
      ['steps: [pause]\nvariables: { x: 1 }', /x\.yaml:2: variables\.x stands in no step/],
      ['steps: []', /x\.yaml:1: steps is a list of 1 to 100 steps/],
      ['steps: [{ run: "rm -rf ~" }]', /step 1 \(run\) is no action/],
      ['steps: [pause', /x\.yaml:\d/],
      ['- pause', /it is no macro/],
      [`steps: [search: { query: "a\\u001b[2J" }]`, /query is a text of one line/],
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

test('a file that was broken by hand is listed with its fault, and does not run', () =>
  inPlace(async (place) => {
    await macro(place, 'create', 'broken');
    await macro(place, 'create', 'sound');
    fs.writeFileSync(join(place.home, 'macros', 'broken.yaml'), 'steps:\n  - pause\n  - pausse\n');
    const listed = await macro(place, 'list');
    assert.is(listed.code, 1);
    assert.match(listed.stdout, /broken .*cannot be used: .*broken\.yaml:3: step 2 "pausse"/);
    assert.match(listed.stdout, /sound/);
    const ran = await macro(place, 'run', 'broken');
    assert.is(ran.code, exitCodes.bad_request);
    assert.match(ran.stderr, /broken\.yaml:3: step 2 "pausse" is no action/);
    assert.match((await macro(place, 'run', 'sounds')).stderr, /Did you mean sound\?/);
  }));

test('a missing variable is named with how to give it, and an unknown one too', () =>
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

const LOG = [
  'my-tool 1.0',
  'building',
  ...Array.from({ length: 40 }, (_, at) => `  step ${at}: read all the files that there are`),
  'warning: a slow disk',
  'Done',
].join('\n');
const COMPRESS =
  'compress: { file: build.log, recipe: my-tool.yaml, to: small.log, command: my-tool build }';

async function withRecipe(use: (place: Place) => Promise<void>): Promise<void> {
  await inPlace(async (place) => {
    assert.is((await run(place, ['recipe', 'create', 'my-tool'])).code, 0);
    write(place, 'build.log', LOG);
    await use(place);
  });
}

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
    assert.match(again.stderr, /nothing was done\n.*small\.log is there already\n--replace/);
    assert.is((await runSteps(place, [COMPRESS], '--replace')).code, 0);
  }));

test('what cannot be done is said before anything is done', () =>
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

test('a step may use the file of an earlier one, and a recipe that is not meant for it fails', () =>
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
    assert.match(chained.stderr, /done: step 1 \(compress\); deleting small\.log takes it back/);
    const on = await macro(place, 'run', 'm', '--from', '2', '--dry-run');
    assert.match(on.stdout, /1 of 2 +compress +is left out/);
  }));

const ROWS = Array.from({ length: 900 }, (_, n) => `ok ${n} - fetches page ${n % 7}`).join('\n');
const CONVERSATION = {
  messages: [
    { role: 'user', content: 'Run the tests.' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: ROWS }] },
  ],
};

test('every action does to a running proxy what it says', async () => {
  const upstream = await startUpstream();
  const ended = inPlace(async (place) => {
    const config = 'cache: { enabled: true }\n';
    write(place, 'svc.yaml', config);
    write(place, 'note.md', '# Limits\n\nThe limiter of turnips is in gate/turnip.ts.\n');
    write(place, 'build.log', LOG);
    await run(place, ['recipe', 'create', 'my-tool']);
    const proxy = start(
      place,
      ['serve', '--port', '0', '--config', join(place.folder, 'svc.yaml')],
      {
        MSGPROV_BASE_URL: upstream.url,
        MSGPROV_API_KEY: 'messages-key',
        SVC_ROUTER_ENABLED: '1',
        SVC_MAX_COMPRESSION_TIME_MS: '0',
        SVC_WS_PORT: '0',
      },
    );
    try {
      const port = Number((await proxy.says(/127\.0\.0\.1:(\d+)/))[1]);
      const step = async (one: string): Promise<string> => {
        const ran = await runSteps(place, [one]);
        assert.is(ran.code, 0, `${one}\n${ran.stderr}`);
        return ran.stdout;
      };
      const asJson = async (...argv: readonly string[]) =>
        JSON.parse((await run(place, [...argv, '--json'])).stdout) as Record<string, unknown>;
      const ask = (more: object, headers = {}) =>
        exchange(port, { headers, body: json(MESSAGE, more) });
      const sentLength = async (): Promise<number> => {
        await ask(CONVERSATION);
        return upstream.requests.at(-1)!.body.length;
      };
      const effects: Record<keyof typeof ACTIONS, () => Promise<void>> = {
        async compress() {
          await step(COMPRESS);
          assert.ok(fs.existsSync(join(place.folder, 'small.log')));
        },
        async ingest() {
          assert.match(
            await step('ingest: { file: note.md, id: turnips }'),
            /in the vault as turnips/,
          );
        },
        async search() {
          assert.match(await step('search: { query: limiter of turnips }'), /gate\/turnip\.ts/);
          const none = await runSteps(place, ['search: { query: zyzzyva }']);
          assert.is(none.code, exitCodes.not_found);
        },
        async pause() {
          assert.ok((await sentLength()) < ROWS.length);
          await step('pause');
          assert.ok((await sentLength()) > ROWS.length);
        },
        async resume() {
          await step('resume');
          assert.ok((await sentLength()) < ROWS.length);
        },
        async debug() {
          await step('debug: { on: true }');
          assert.equal(await asJson('debug', 'status'), { debug: true });
          await step('debug: { on: false }');
          assert.equal(await asJson('debug', 'status'), { debug: false });
        },
        async force_health() {
          const health = async () => {
            const { providers } = await asJson('provider-status', 'messages');
            return (providers as Record<'messages', { health: { state: string } }>).messages.health
              .state;
          };
          await step('force_health: { provider: messages, state: unhealthy }');
          assert.is(await health(), 'unhealthy');
          await step('force_health: { provider: messages, state: healthy }');
          assert.is(await health(), 'healthy');
        },
        async route_add() {
          await step('route_add: { id: night, target: messages/claude-mini, model: claude-night }');
          await ask({ model: 'claude-night' });
          assert.match(upstream.requests.at(-1)!.body.toString(), /"claude-mini"/);
        },
        async route_remove() {
          await step('route_remove: { id: night }');
          await ask({ model: 'claude-night' });
          assert.match(upstream.requests.at(-1)!.body.toString(), /"claude-night"/);
        },
        async cache_clear() {
          const cached = async () => {
            const before = upstream.requests.length;
            await ask({ top_k: 7 }, { 'x-svc-cache': 'on' });
            return upstream.requests.length === before;
          };
          await cached();
          assert.ok(await cached());
          assert.match(await step('cache_clear'), /it held 1 answer$/m);
          assert.not.ok(await cached());
        },
        async learn() {
          const samples = async () => ((await asJson('learn', 'status'))['blocks'] ?? 0) as number;
          await step('learn: { do: apply }');
          await step('learn: { do: reset }');
          assert.is(await samples(), 0);
        },
        async check_alerts() {
          assert.match(await step('check_alerts'), /No alert rule is configured/);
          write(
            place,
            'svc.yaml',
            `${config}alerts: [{ name: any, when: { metric: disk_free_mb, above: 0 } }]\n`,
          );
          await step('reload');
          const firing = await runSteps(place, ['check_alerts', 'pause']);
          assert.is(firing.code, 1, firing.stderr);
          assert.match(firing.stderr, /stopped at step 1 of 2 \(check_alerts\): .*disk/);
          assert.match(firing.stderr, /nothing was done before it\n.*not run: step 2 \(pause\)/);
        },
        async reload() {
          write(place, 'svc.yaml', `${config}compression: { mode: aggressive }\n`);
          assert.match(await step('reload'), /in force: .*compression\.mode/);
          write(place, 'svc.yaml', 'compression: { mode: odd }\n');
          const refused = await runSteps(place, ['debug: { on: true }', 'reload', 'pause']);
          assert.is(refused.code, exitCodes.config);
          assert.match(refused.stderr, /stopped at step 2 of 3 \(reload\): .*odd/);
          assert.match(refused.stderr, /done: step 1 \(debug\); `svc debug off` takes it back/);
          assert.match(refused.stderr, /not run: step 3 \(pause\)/);
          assert.match(refused.stderr, /`svc macro run m --from 2`/);
          assert.match(refused.stdout, /^1 of 3 +debug +Debug logging is on$/m);
        },
      };
      assert.equal(Object.keys(effects), Object.keys(ACTIONS));
      for (const effect of Object.values(effects)) await effect();
      const { steps, ok } = JSON.parse((await macro(place, 'run', 'm', '--json')).stdout) as {
        ok: boolean;
        steps: readonly { state: string }[];
      };
      assert.is(ok, false);
      assert.equal(
        steps.map(({ state }) => state),
        ['done', 'failed', 'not_run'],
      );
      // Nothing that listens knows of macros.
      for (const path of ['/macro', '/macros', '/macro/run', '/v1/svc/macros'])
        for (const method of ['GET', 'POST', 'PUT'])
          assert.is((await exchange(port, { path, method, body: '{}' })).status, 404, path);
    } finally {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
    }
  });
  try {
    await ended;
  } finally {
    await upstream.close();
  }
});

test('a macro of a plugin is listed with its origin, runs, and is not deleted', () =>
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
    assert.match(kept.stderr, /brought by the plugin calm/);
    write(
      place,
      'calm.mjs',
      "export default { name: 'calm',\n macros: [{ name: 'hush',\n steps: ['resum'] }] };",
    );
    const broken = await macro(place, 'list', ...flags);
    assert.is(broken.code, 1);
    assert.match(broken.stderr, /calm\.mjs:3: macros\[0\]: steps\.0 "resum" is no action/);
  }));

test.run();
