/** `svc check-alerts` with and without a running proxy. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exitCodes } from '../exit.ts';
import { makePlace, run, start } from '../../fixtures/cli/run.ts';

const rule = (name: string, when: string) => `  - { name: ${name}, when: { ${when} } }\n`;

test('exits with 1 when a rule fires and with 0 when none does, with or without a proxy', async () => {
  const place = makePlace();
  const file = join(place.folder, 'svc.yaml');
  const flags = ['--config', file];
  const configure = (text: string) => writeFileSync(file, text, { mode: 0o600 });
  const quiet = `alerts:\n${rule('full', 'metric: disk_free_mb, below: 0')}`;
  const broken = quiet + rule('broken', 'metric: unhealthy_providers, above: 0');
  try {
    const none = await run(place, ['check-alerts']);
    assert.equal([none.code, none.stdout], [0, '']);
    configure(broken);
    const proxy = start(place, ['serve', '--port', '0', ...flags]);
    try {
      await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
      const passing = await run(place, ['check-alerts', '--json']);
      assert.is(passing.code, 0, passing.stdout);
      await run(place, ['provider-force-health', 'chat', 'unhealthy']);
      const firing = await run(place, ['check-alerts']);
      assert.is(firing.code, 1);
      assert.match(firing.stdout, '✗ broken: unhealthy_providers is 1, fires above 0');
      assert.match(firing.stdout, 'ok full: disk_free_mb is');
    } finally {
      proxy.child.kill('SIGTERM');
      await proxy.ended;
    }
    const alone = await run(place, ['check-alerts', ...flags]);
    assert.is(alone.code, 0, alone.stderr);
    assert.match(alone.stdout, '? broken: unhealthy_providers is not measured');
    configure(`alerts:\n${rule('space', 'metric: disk_free_mb, above: 0')}`);
    const space = await run(place, ['check-alerts', ...flags, '--json']);
    assert.is(space.code, 1);
    assert.is(JSON.parse(space.stdout).alerts[0].firing, true);
    configure(`alerts:\n${rule('a', 'metric: eror_rate, above: 1')}`);
    const wrong = await run(place, ['check-alerts', ...flags]);
    assert.is(wrong.code, exitCodes.config);
    assert.match(wrong.stderr, 'did you mean error_rate?');
  } finally {
    place.dispose();
  }
});

test('with a proxy that was started without rules, check-alerts says how to load them', async () => {
  const place = makePlace();
  const proxy = start(place, ['serve', '--port', '0']);
  try {
    await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
    const rules =
      'alerts:\n  - { name: a, when: { metric: requests, above: 0 }, notify: { command: [/bin/true] } }\n';
    writeFileSync(join(place.home, 'config.yaml'), rules, { mode: 0o600 });
    for (const argv of [['check-alerts'], ['check-alerts', '--test']]) {
      const { code, stderr } = await run(place, argv);
      assert.is(code, 0);
      assert.match(stderr, /running proxy has .*`svc config reload` makes it read/);
    }
    assert.is((await run(place, ['config', 'reload'])).code, 0);
    const { stdout } = await run(place, ['check-alerts', '--test']);
    assert.match(stdout, 'ok a: command true: delivered');
  } finally {
    proxy.child.kill('SIGTERM');
    await proxy.ended;
    place.dispose();
  }
});

test.run();
