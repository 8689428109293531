/** Commands use the running proxy's configuration, in whatever folder they are run. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, run, start, write } from '../../fixtures/cli/run.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { json, MESSAGE } from '../../fixtures/server/exchange.ts';
import { until } from '../../fixtures/cli/live.ts';

test('commands report on a proxy that was started with --config and --env-file', () =>
  inPlace(async (place) => {
    const upstream = await startUpstream();
    const config = write(
      place,
      'its own/config.yaml',
      `ledger: { db: ./its.db }\nproviders: { messages: { base_url: "${upstream.url}" } }\n`,
    );
    const envFile = write(place, 'its.env', 'SVC_VAULT_INDEX=its-index\nMSGPROV_API_KEY=key\n');
    const flags = ['--port', '0', '--config', config, '--env-file', envFile];
    const proxy = start(place, ['serve', ...flags]);
    try {
      const [, url = ''] = await proxy.prints(/listens on (http:\S+)/);
      const headers = { 'content-type': 'application/json' };
      await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: json(MESSAGE) });
      await until(
        async () => /"requests": 1,/.test((await run(place, ['usage', '--json'])).stdout),
        'the request in the ledger',
      );
      for (const command of ['stats', 'requests', 'models', 'cost', 'report', 'why', 'compare']) {
        const { code, stdout, stderr } = await run(place, [command]);
        assert.is(code, 0, `${command}: ${stderr}`);
        assert.not.match(stdout, /^No request/, command);
      }
      write(place, 'notes/a.md', '# Lamps\n\nThe lamp of the harbour is lit at dusk.\n');
      const indexed = await run(place, ['index', 'notes']);
      assert.match(indexed.stdout, /its-index/);
      assert.not.match(indexed.stderr, /uses another index/);
      // A file named explicitly still takes precedence.
      const other = write(place, 'other.yaml', 'ledger: { db: ./none.db }\n');
      assert.match((await run(place, ['requests', '--config', other])).stderr, /none\.db/);
    } finally {
      proxy.child.kill('SIGINT');
      await proxy.ended;
      await upstream.close();
    }
    assert.match((await run(place, ['requests'])).stderr, /no ledger at .*monitor\.db/);
  }));

test.run();
