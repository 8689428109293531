/**
 * Other inputs of `svc certify` than session files: captures of a proxy, and bodies of another
 * tool.
 */
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, run, write } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import { withProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { captureFolder } from '../../stages/captures/files.ts';

interface Printed {
  readonly holds: boolean;
  readonly is_foreign: boolean;
  readonly checks: readonly { readonly name: string; readonly holds: boolean }[];
  readonly sessions: number;
  readonly turns: number;
  readonly lines_quoted: number;
  readonly failure_lines: number;
  readonly tokens_claimed: number;
  readonly costs: readonly { readonly client: string }[];
}

const ERROR = 'error: part 210 is missing in the store';
const LOG = [
  'shop 2.1 deploying 400 parts',
  ...Array.from({ length: 400 }, (_, n) =>
    n === 210 ? ERROR : `  fetch part ${n}: 200 in ${n % 37} ms, unpacked to /var/shop/part-${n}`,
  ),
  'took 4.4 s',
  'exit status 1',
].join('\n');

/**
 * Returns the request of turn `n`, from 1: two commands are run, and the first one's output is
 * quoted.
 */
function bodyOf(n: number, log = LOG): object {
  const call = (id: string, command: string) => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name: 'Bash', input: { command } }],
  });
  const result = (id: string, content: string) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content }],
  });
  const messages = [
    { role: 'user', content: 'Deploy it.' },
    call('t1', 'shop deploy'),
    result('t1', log),
    { role: 'assistant', content: [{ type: 'text', text: `It says:\n${ERROR}` }] },
    { role: 'user', content: 'Again.' },
    call('t2', 'shop deploy --again'),
    result('t2', 'shop 2.1\ndone'),
  ];
  const body = {
    model: 'claude-sonnet-4-5',
    max_tokens: 1000,
    messages: messages.slice(0, 2 * n - 1),
  };
  const last = body.messages.at(-1)!;
  // As in Claude Code, the marker is on the newest block.
  if (typeof last.content === 'string') return body;
  const blocks = last.content.map((block) => ({ ...block, cache_control: { type: 'ephemeral' } }));
  return { ...body, messages: [...body.messages.slice(0, -1), { ...last, content: blocks }] };
}
const TURNS = [1, 2, 3, 4];
const notHeld = ({ stdout }: { readonly stdout: string }): readonly string[] =>
  (JSON.parse(stdout) as Printed).checks.filter(({ holds }) => !holds).map(({ name }) => name);

test('captures are grouped into sessions: each request that continues another belongs to it', () =>
  inPlace((place) =>
    withProxy({ yaml: 'capture: { enabled: true }\n' }, async (t) => {
      for (const n of TURNS) await exchange(t.proxy.port, { body: json(bodyOf(n)) });
      const other = { ...bodyOf(1), messages: [{ role: 'user', content: 'Something else.' }] };
      await exchange(t.proxy.port, { body: json(other, { stream: true }) });
      await t.rows(5);
      await t.proxy.services.captures.flush();
      const folder = captureFolder(dirname(t.db));
      const kept = await run(place, ['certify', folder, '--json']);
      assert.is(kept.code, 0, kept.stdout + kept.stderr);
      const found = JSON.parse(kept.stdout) as Printed;
      assert.equal([found.sessions, found.turns, found.is_foreign], [2, 5, false]);
      assert.ok(found.lines_quoted >= 1 && found.failure_lines >= 3, kept.stdout);
      write(
        place,
        'harm.yaml',
        "name: harm\nmatch: { program: shop }\nmust_keep: ['^took']\noperations:\n  - drop_lines: { pattern: '^error: ' }\n  - drop_lines: { pattern: '^  fetch part ' }\nexamples: []\n",
      );
      write(place, 'config.yaml', 'compression: { recipes: [harm.yaml] }\n');
      const harmed = await run(place, ['certify', folder, '--config', 'config.yaml', '--json']);
      assert.is(harmed.code, 1, harmed.stdout);
      assert.equal(notHeld(harmed), ['retention', 'failures']);
      const estimated = await run(place, ['savings', '--estimate', folder, '--json']);
      assert.is(estimated.code, 0, estimated.stderr);
    }),
  ));

type Change = (body: object, turn: number) => object;

/** Writes a tool's result for each turn to a folder, and its claimed savings, if any. */
function writePairs(place: Place, name: string, change: Change, savedTokens?: number): string {
  for (const n of TURNS) {
    write(place, join(name, 'shop', `${n}.before.json`), json(bodyOf(n)));
    write(place, join(name, 'shop', `${n}.after.json`), json(change(bodyOf(n), n)));
  }
  if (savedTokens !== undefined)
    write(place, join(name, 'shop/claim.json'), json({ saved_tokens: savedTokens }));
  return name;
}

const withoutLines =
  (pattern: RegExp): Change =>
  (_, n) =>
    bodyOf(
      n,
      LOG.split('\n')
        .filter((line) => !pattern.test(line))
        .join('\n'),
    );

test('another tool is held to the same promises, and each of them can be broken', () =>
  inPlace(async (place) => {
    const judge = (folder: string) => run(place, ['certify', '--pairs', folder, '--json']);
    const good = await judge(writePairs(place, 'good', withoutLines(/^ {2}fetch/), 5000));
    assert.is(good.code, 0, good.stdout + good.stderr);
    const found = JSON.parse(good.stdout) as Printed;
    assert.equal([found.sessions, found.turns, found.is_foreign], [1, 4, true]);
    assert.equal([found.lines_quoted, found.tokens_claimed], [1, 5000]);
    assert.is(found.costs[0]!.client, 'good');

    const cases: readonly (readonly [broken: readonly string[], change: Change, claim?: number])[] =
      [
        [['retention', 'failures'], withoutLines(/^error: |^ {2}fetch/)],
        [['failures'], withoutLines(/^exit status|^ {2}fetch/)],
        [['prefix'], (_, n) => bodyOf(n, LOG.replaceAll(/^ {2}fetch.*$/gm, `turn ${n}`))],
        [['cost'], (_, n) => bodyOf(n, `${'more words before it\n'.repeat(200)}${LOG}`)],
        [['honesty'], withoutLines(/^ {2}fetch/), 1_000_000],
      ];
    for (const [at, [broken, change, claim]] of cases.entries()) {
      const ran = await judge(writePairs(place, `case-${at}`, change, claim));
      assert.is(ran.code, 1, ran.stdout);
      assert.equal(notHeld(ran), broken, `case ${at}`);
    }
  }));

test('unreadable pairs are named, and nothing is stored for alerts', () =>
  inPlace(async (place) => {
    const folder = writePairs(place, 'tool', (body) => body);
    write(place, 'tool/broken/1.before.json', json(bodyOf(1)));
    const shown = await run(place, ['certify', '--pairs', folder]);
    assert.is(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /^The certificate holds: 1 session, 4 requests, another tool\n/);
    assert.match(shown.stderr, /broken: /);
    for (const line of shown.stdout.split('\n')) assert.ok(Array.from(line).length <= 80, line);
    const none = await run(place, ['certify', '--pairs', 'tool/broken']);
    assert.is(none.code, 5);
    assert.match(none.stderr, 'NAME.after.json');
    write(place, 'half/one/1.before.json', json(bodyOf(1)));
    const half = await run(place, ['certify', '--pairs', 'half']);
    assert.match(half.stderr, /half\/one: 1\.after\.json is missing/);
    assert.is((await run(place, ['certify', '--pairs', 'nowhere'])).code, 5);
    assert.is((await run(place, ['certify', folder, '--pairs', folder])).code, 2);
  }));

test.after(closeClients);
test.run();
