/**
 * Macros as stages: from the configuration for every request, from a header for one conversation.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../engine/clock.ts';
import { run } from '../../../fixtures/cli/run.ts';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { openTalk } from '../../../fixtures/server/websocket.ts';
import { openKeyStore } from '../../auth/auth.ts';
import type { Right } from '../../auth/rights.ts';

test.after(closeClients);

/** Drops the steps in the output of a program that no other recipe matches. */
const RECIPE = {
  name: 'shop-build',
  match: { program: 'shop-build' },
  must_keep: ['(?i)\\b(error|warning)\\b'],
  operations: [{ drop_lines: { pattern: '^ +step' } }],
};
const LOG = [
  'shop-build 1.0',
  ...Array.from({ length: 80 }, (_, n) => `  step ${n}: packed the part ${n * 17} of the shop`),
  'warning: a slow disk',
  'Done',
].join('\n');

const homeOf = (t: TestProxy): string => dirname(t.db);

const EAGER = 'compression: { threshold_tokens: 0 }\n';

const STAGE = `steps:
  - recipes: { use: ../recipes/shop-build.yaml }
  - settings: { threshold_tokens: 0 }
`;

function writeMacro(t: TestProxy, name: string, source: string): void {
  mkdirSync(join(homeOf(t), 'macros'), { recursive: true });
  writeFileSync(join(homeOf(t), 'macros', `${name}.yaml`), source, { mode: 0o600 });
}

/** Runs `use` with a proxy that has the macro `builds`, which no request uses by default. */
const withMacro = (use: (t: TestProxy) => Promise<void>) =>
  withProxy({ yaml: EAGER }, async (t) => {
    mkdirSync(join(homeOf(t), 'recipes'), { recursive: true });
    const file = join(homeOf(t), 'recipes', 'shop-build.yaml');
    writeFileSync(file, JSON.stringify(RECIPE), { mode: 0o600 });
    writeMacro(t, 'builds', STAGE);
    await t.proxy.reload();
    await use(t);
  });

/** Returns a conversation whose first result is `LOG`; `about` makes it unique. */
const conversation = (about: string, more: readonly object[] = []) =>
  json(MESSAGE, {
    thinking: { type: 'disabled' },
    messages: [
      { role: 'user', content: `Build ${about}.` },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 't1', name: 'Bash', input: { command: `shop-build ${about}` } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: LOG }] },
      ...more,
    ],
  });
const GO_ON = [
  { role: 'assistant', content: 'It is built.' },
  { role: 'user', content: 'Go on.' },
];

async function ask(t: TestProxy, body: string, headers: Record<string, string> = {}) {
  const { status, text } = await exchange(t.proxy.port, { body, headers });
  return { status, text, sent: t.upstream.requests.at(-1)?.body.toString() ?? '' };
}

const NAMED = { 'x-svc-macro': 'builds' };
const isShort = (sent: string): boolean => !sent.includes('step 40') && sent.includes('slow disk');

interface TraceJson {
  readonly stages: readonly {
    readonly node: string;
    readonly duration_ms: number;
    readonly prefix_changes_because_of?: string;
  }[];
}

async function lastTrace(t: TestProxy) {
  const { stages } = (await (await fetch(`${t.proxy.url}/trace/last`)).json()) as TraceJson;
  return {
    nodes: stages.map(({ node }) => node),
    stage: (name: string) => stages.find(({ node }) => node === name),
  };
}

test('a configured macro is a stage for every request, and is timed', () =>
  withMacro(async (t) => {
    assert.not.ok(isShort((await ask(t, conversation('one'))).sent));
    assert.not.ok((await lastTrace(t)).nodes.includes('macro:builds'));
    t.configure(`${EAGER}macros: [builds]\n`);
    const report = (await t.proxy.reload()) as { applied: readonly string[] };
    assert.equal(report.applied, ['macros']);
    assert.ok(isShort((await ask(t, conversation('two'))).sent));
    const { nodes, stage } = await lastTrace(t);
    assert.equal(nodes.slice(2, 6), ['protect', 'macro:builds', 'recipes', 'compress']);
    assert.type(stage('macro:builds')?.duration_ms, 'number');
    writeMacro(t, 'builds', STAGE.replace('0 }', '1 }'));
    assert.equal(((await t.proxy.reload()) as typeof report).applied, ['macros']);
    // A conversation that started without the macro stays without it: the provider has cached its
    // prefix.
    assert.not.ok(isShort((await ask(t, conversation('one', GO_ON))).sent));
    assert.ok(isShort((await ask(t, conversation('one', GO_ON), NAMED)).sent));
    assert.is((await lastTrace(t)).nodes.filter((node) => node === 'macro:builds').length, 1);
  }));

test('a header selects a macro for its conversation, which keeps it', () =>
  withMacro(async (t) => {
    assert.ok(isShort((await ask(t, conversation('one'), NAMED)).sent));
    assert.ok((await lastTrace(t)).nodes.includes('macro:builds'));
    assert.is(t.upstream.requests.at(-1)!.header('x-svc-macro'), undefined);
    assert.not.ok(isShort((await ask(t, conversation('two'))).sent));
    assert.ok(isShort((await ask(t, conversation('one', GO_ON))).sent));
    assert.not.ok((await lastTrace(t)).nodes.includes('macro:builds'));
    // A macro named later changes the prefix once.
    assert.ok(isShort((await ask(t, conversation('two', GO_ON), NAMED)).sent));
    const changed = (await lastTrace(t)).stage('compress');
    assert.is(changed?.prefix_changes_because_of, 'macro');
    await ask(t, conversation('two', GO_ON), NAMED);
    assert.is((await lastTrace(t)).stage('compress')?.prefix_changes_because_of, undefined);
  }));

test('svc macro run changes a file as the stage changes a tool result', () =>
  withMacro(async (t) => {
    const { sent } = await ask(t, conversation('one'), NAMED);
    const { messages } = JSON.parse(sent) as {
      readonly messages: readonly { readonly content: readonly { readonly content: string }[] }[];
    };
    const home = homeOf(t);
    writeFileSync(join(home, 'build.log'), LOG);
    const place = { folder: home, home, env: { SVC_HOME: home }, dispose: () => undefined };
    const argv = ['macro', 'run', 'builds', 'build.log', '--command', 'shop-build one'];
    const ran = await run(place, argv);
    assert.is(ran.stdout, messages[2]!.content[0]!.content);
    assert.match(ran.stderr, /build\.log: \d+ → \d+ tokens, by recipe:shop-build/);
    const asJson = JSON.parse((await run(place, [...argv, '--json'])).stdout) as { text: string };
    assert.is(asJson.text, ran.stdout);
    assert.equal(
      (await run(place, ['macro', 'run', 'builds', '--dry-run'])).stdout,
      'recipe ../recipes/shop-build.yaml\nthreshold_tokens 0\n',
    );
    const lost = await run(place, ['macro', 'run', 'builds']);
    assert.is(lost.code, 2);
    assert.match(lost.stderr, /is a stage: name the file/);
  }));

test('a capture of a request with a macro replays to the same bytes', () =>
  withMacro(async (t) => {
    t.configure(`${EAGER}capture: { enabled: true }\n`);
    await t.proxy.reload();
    assert.ok(isShort((await ask(t, conversation('one'), NAMED)).sent));
    await t.rows(1);
    await t.proxy.services.captures.flush();
    const home = homeOf(t);
    const place = { folder: home, home, env: { SVC_HOME: home }, dispose: () => undefined };
    writeFileSync(join(home, 'replayed.yaml'), EAGER);
    const ran = await run(place, ['replay', 'run', '--check', '--config', 'replayed.yaml']);
    assert.is(ran.code, 0, ran.stdout + ran.stderr);
    assert.match(ran.stdout, /1 the same, 0 different/);
  }));

test('a conversation that began without recipes never gets any', () =>
  withProxy({ yaml: 'compression: { threshold_tokens: 0, recipes: off }\n' }, async (t) => {
    await ask(t, conversation('one'));
    assert.not.ok((await lastTrace(t)).nodes.includes('recipes'));
    await t.proxy.services.conversations.flush();
    const kept = readFileSync(join(homeOf(t), 'decisions.jsonl'), 'utf8');
    assert.match(kept, /"mode":"hybrid"/);
    assert.not.match(kept, /recipes/);
  }));

test('a macro’s mode applies like a request’s, and strict in the configuration takes precedence', () =>
  withMacro(async (t) => {
    writeMacro(t, 'off', 'steps:\n  - settings: { mode: strict }\n');
    t.configure('macros: [builds]\n');
    await t.proxy.reload();
    assert.not.ok(isShort((await ask(t, conversation('one'), { 'x-svc-macro': 'off' })).sent));
    assert.ok(isShort((await ask(t, conversation('two'))).sent));
    writeMacro(t, 'hard', 'steps:\n  - settings: { mode: aggressive }\n');
    t.configure('macros: [builds, hard]\ncompression: { mode: strict, threshold_tokens: 0 }\n');
    await t.proxy.reload();
    assert.not.ok(isShort((await ask(t, conversation('three'))).sent));
  }));

test('a name that cannot be a stage is refused with the reason, and prevents a start or a reload', () =>
  withMacro(async (t) => {
    writeMacro(t, 'quiet', 'steps: [pause]\n');
    writeMacro(t, 'broken', 'steps: [nothing]\n');
    writeMacro(t, 'lost', 'steps:\n  - recipes: { use: mak }\n');
    writeMacro(t, 'both', 'steps:\n  - recipes: { use: make }\n  - pause\n');
    await t.proxy.reload();
    const before = t.upstream.requests.length;
    for (const [name, reason] of [
      ['build', /There is no macro \\"build\\"; did you mean builds\?/],
      ['quiet', /Macro quiet cannot be a stage: its steps \(pause\) are run by a person/],
      ['broken', /broken\.yaml:1: .*not an action/],
      ['lost', /there is no recipe mak; did you mean make\?/],
      ['both', /both\.yaml:3: step 2 \(pause\) is run by a person alone/],
      ['../builds', /There is no macro/],
    ] as const) {
      const { status, text } = await ask(t, conversation('one'), { 'x-svc-macro': name });
      assert.is(status, 400, name);
      assert.match(text, reason);
      t.configure(`macros: [builds, '${name}']\n`);
      const refused = await t.proxy.reload().then(
        () => 'taken',
        (thrown: unknown) => (thrown as Error).message,
      );
      if (name.includes('/')) assert.match(refused, /macros/);
      else assert.match(refused, new RegExp(reason.source.replaceAll('\\\\', '')));
    }
    assert.is(t.upstream.requests.length, before);
    const rows = await t.rows(6);
    assert.equal(
      rows.map(({ status }) => status),
      rows.map(() => 400),
    );
  }));

test('from another machine the header needs a key with that right', () =>
  withMacro(async (t) => {
    const file = join(dirname(t.db), 'keys.json');
    const store = openKeyStore({ file, clock: systemClock, random: randomBytes });
    const keyThatMay = (...may: Right[]) => store.create({ label: may.join(), may }).key;
    const keys = [
      ['one', 'capture', keyThatMay('capture')],
      ['two', 'macro', keyThatMay('macro')],
    ] as const;
    for (const [about, may, key] of keys) {
      const remote = { 'x-forwarded-for': '10.1.2.3', 'x-svc-key': key, ...NAMED };
      const { status, sent } = await ask(t, conversation(about), remote);
      assert.is(status, 200);
      assert.is(isShort(sent), may === 'macro', about);
    }
  }));

test('a frame of a WebSocket may select a macro too', () =>
  withMacro(async (t) => {
    const client = await openTalk(t.proxy.wsPort, NAMED);
    await client.answered(conversation('one'));
    assert.ok(isShort(t.upstream.requests.at(-1)!.body.toString()));
    client.socket.close();
    const other = await openTalk(t.proxy.wsPort, { 'x-svc-macro': 'nobody' });
    const response = await other.answered(conversation('two'));
    assert.match(JSON.stringify(response), /There is no macro/);
    other.socket.close();
  }));

test.run();
