import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exitCodes } from '../exit.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';
import { startUpstream } from '../../fixtures/upstream.ts';

const place = makePlace();
test.after(() => place.dispose());

const TEXT = '---\ndescription: Explains\n---\nExplain {{topic}} to {{who}}.\n';
const file = join(place.folder, 'explain.md');
writeFileSync(file, TEXT.replace('---\nE', 'variables: { who: a child }\n---\nE'));

test('a template is added privately, shown, listed, used and removed', async () => {
  const added = await run(place, ['template', 'add', 'explain', 'explain.md']);
  assert.is(added.code, 0, added.stderr);
  assert.is(added.stdout, 'explain added, with topic, who="a child"\n');
  const kept = join(place.home, 'templates', 'explain.md');
  assert.is(statSync(kept).mode & 0o777, 0o600);
  assert.is((await run(place, ['template', 'show', 'explain'])).stdout, readFileSync(file, 'utf8'));
  const listed = await run(place, ['template', 'list', '--json']);
  assert.equal(JSON.parse(listed.stdout), {
    templates: [
      {
        name: 'explain',
        description: 'Explains',
        fault: null,
        variables: [
          { name: 'topic', required: true, default: null, about: null },
          { name: 'who', required: false, default: 'a child', about: null },
        ],
      },
    ],
  });
  const used = await run(place, ['template', 'use', 'explain', '--var', 'topic={{who}}=1']);
  assert.is(used.stdout, 'Explain {{who}}=1 to a child.\n');
  const again = await run(place, ['template', 'add', 'explain', 'explain.md']);
  assert.match(again.stderr, /There is a template explain already/);
  const stdin = Readable.from(['Say {{word}}']);
  const forced = await run(place, ['template', 'add', 'explain', '--force'], { stdin });
  assert.is(forced.code, 0, forced.stderr);
  assert.is((await run(place, ['template', 'remove', 'explain'])).code, 0);
  assert.match((await run(place, ['template', 'list'])).stderr, /There is no template/);
});

test('errors state their cause and leave no file', async () => {
  for (const [argv, reason, code] of [
    [['add', '../x', 'explain.md'], /cannot be the name/, exitCodes.bad_request],
    [['add', 'x', 'absent.md'], /There is no file .*absent\.md/, exitCodes.not_found],
    [['show', 'x'], /There is no template x/, exitCodes.not_found],
    [['remove', 'x'], /There is no template x/, exitCodes.not_found],
    [['use', 'x', '--var', 'y'], /There is no template x/, exitCodes.not_found],
  ] as const) {
    const ran = await run(place, ['template', ...argv]);
    assert.is(ran.code, code, argv.join(' '));
    assert.match(ran.stderr, reason);
  }
});

test('with --model the response comes through the running proxy', async () => {
  const upstream = await startUpstream();
  await run(place, ['template', 'add', 'explain', 'explain.md']);
  const argv = [
    'template',
    'use',
    'explain',
    '--var',
    'topic=tides',
    '--model',
    'claude-sonnet-4-5',
  ];
  try {
    const none = await run(place, argv);
    assert.match(none.stderr, /svc is not running/);
    const env = { MSGPROV_BASE_URL: upstream.url, MSGPROV_API_KEY: 'k', SVC_WS_PORT: '0' };
    const proxy = start(place, ['serve', '--port', '0'], env);
    try {
      await proxy.prints(/127\.0\.0\.1:\d+/);
      const ran = await run(place, argv);
      assert.is(ran.code, 0, ran.stderr);
      assert.ok(ran.stdout.trim().length > 0);
      const sent = upstream.requests.at(-1)!.body.toString();
      assert.match(sent, /Explain tides to a child\./);
    } finally {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
    }
  } finally {
    await upstream.close();
  }
});

test.run();
