/** The commands on routes, spending and providers, with and without a running proxy. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import type { Upstream } from '../../fixtures/upstream.ts';
import { exitCodes } from '../exit.ts';
import { inPlace, run, start, write } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

async function withUpstream(use: (upstream: Upstream) => Promise<void>): Promise<void> {
  const upstream = await startUpstream();
  try {
    await use(upstream);
  } finally {
    await upstream.close();
  }
}

/** Starts a proxy as a process of its own, in front of the fake provider. */
async function withRunning(use: (place: Place) => Promise<void>, config?: string): Promise<void> {
  await withUpstream((upstream) =>
    inPlace(async (place) => {
      const file = join(place.folder, 'svc.yaml');
      if (config !== undefined) writeFileSync(file, config, { mode: 0o600 });
      const flags = config === undefined ? [] : ['--config', file];
      const proxy = start(place, ['serve', '--port', '0', ...flags], {
        MSGPROV_BASE_URL: upstream.url,
        MSGPROV_API_KEY: 'messages-key',
      });
      try {
        await proxy.prints(/http:\/\/127\.0\.0\.1:\d+/);
        await use(place);
      } finally {
        proxy.child.kill('SIGTERM');
        await proxy.ended;
      }
    }),
  );
}

const aimAt = (target: string) => ['route', 'add', '--target', target];
const ADD = ['route', 'add', '--model', 'claude-*', '--target', 'messages/claude-mini'];

test('rules that are added at the same moment are all stored', () =>
  inPlace(async (place) => {
    const ran = await Promise.all(Array.from({ length: 6 }, () => run(place, ADD)));
    for (const { code, stderr } of ran) assert.is(code, 0, stderr);
    const { stdout } = await run(place, ['route', 'list', '--json']);
    const { rules } = JSON.parse(stdout) as { rules: readonly { id: string }[] };
    assert.equal(new Set(rules.map(({ id }) => id)).size, 6, stdout);
  }));

test('rules are added, listed and removed without a proxy', () =>
  inPlace(async (place) => {
    const added = await run(place, [
      ...ADD,
      '--max-tokens',
      '2000',
      '--no-tools',
      '--priority',
      '3',
    ]);
    assert.is(added.code, 0, added.stderr);
    assert.is(
      added.stdout,
      'Added r1: for claude-*, up to 2,000 tokens, without tools → messages/claude-mini\n',
    );
    const listed = await run(place, ['route', 'list', '--json']);
    assert.equal(JSON.parse(listed.stdout), {
      enabled: true,
      rules: [
        {
          id: 'r1',
          priority: 3,
          model: 'claude-*',
          prefix: null,
          min_tokens: null,
          max_tokens: 2000,
          has_tools: false,
          has_thinking: null,
          budget_below_percent: null,
          target: 'messages/claude-mini',
        },
      ],
    });
    assert.is((await run(place, ['route', 'remove', 'r1'])).code, 0);
    assert.is((await run(place, ['route', 'remove', 'r1'])).code, 5);
    const off = await run(place, ['route', 'list'], {
      env: { ...place.env, SVC_ROUTER_ENABLED: 'false' },
    });
    assert.match(off.stderr, /No rules.*The router is off/s);
  }));

test('a rule whose provider was removed is reported as having no effect', () =>
  inPlace(async (place) => {
    const local = '{ kind: chat, base_url: "http://127.0.0.1:1", auth: none }';
    const config = write(place, 'local.yaml', `providers: { local: ${local} }\n`);
    assert.is((await run(place, [...aimAt('local/small'), '--config', config])).code, 0);
    assert.is((await run(place, ADD)).code, 0);
    const listed = await run(place, ['route', 'list']);
    assert.match(listed.stdout, /r1 .*local\/small/);
    assert.match(listed.stderr, /r1 has no effect: there is no provider 'local'/);
    assert.not.match(listed.stderr, /r2/);
    assert.is((await run(place, ['route', 'list', '--config', config])).stderr, '');
  }));

test('a rule may name a provider of a plugin, without a proxy too', () =>
  inPlace(async (place) => {
    const shop = "{ name: 'shop-llm', kind: 'chat', baseUrl: 'http://127.0.0.1:1', auth: 'none' }";
    write(place, 'shop.mjs', `export default { name: 'shop', providers: [${shop}] };`);
    const config = write(place, 'shop.yaml', 'plugins: [{ module: ./shop.mjs }]\n');
    const added = await run(place, [...aimAt('shop-llm/small'), '--config', config]);
    assert.is(added.code, 0, added.stderr);
    assert.is((await run(place, ['route', 'list', '--config', config])).stderr, '');
  }));

test('all faults of a rule are reported together', () =>
  inPlace(async (place) => {
    const bad = [
      'route',
      'add',
      '--target',
      'nobody/x',
      '--min-tokens',
      'many',
      '--budget-below',
      '0',
    ];
    const { code, stderr } = await run(place, bad);
    assert.is(code, 8);
    assert.match(stderr, /minTokens: found "many".*budgetBelowPercent: found 0/);
    const unknown = await run(place, ['route', 'add', '--target', 'nobody/x']);
    assert.match(unknown.stderr, /there is no provider 'nobody'; there are messages, chat/);
  }));

test('a running proxy applies a new rule immediately and validates it itself', () =>
  withRunning(async (place) => {
    const added = await run(place, ADD);
    assert.match(added.stderr, /uses the change from now on/, added.stderr);
    assert.is((await run(place, ['route', 'remove', 'r9'])).code, 5);
    assert.is((await run(place, [...ADD, '--max-tokens', 'few'])).code, 8);

    const spent = await run(place, ['spend', 'status']);
    assert.match(spent.stdout, /guard\s+off/);
    assert.match(spent.stderr, /turns it on/);
    assert.is((await run(place, ['spend', 'allow', '--json'])).code, 0);

    const forced = ['provider-force-health', 'messages'];
    assert.is((await run(place, [...forced, 'unhealthy'])).code, 0);
    const states = await run(place, ['provider-status']);
    assert.match(states.stdout, /messages\s+unhealthy \(forced\)\s+closed\s+1 of 1 usable/);
    assert.match(states.stdout, /^chat\s+–\s+closed/m, 'nothing was sent to it');
    assert.is((await run(place, [...forced, 'healthy'])).code, 0);
    const one = await run(place, ['provider-status', 'messages', '--json']);
    const { providers } = JSON.parse(one.stdout) as Record<'providers', Record<string, unknown>>;
    assert.equal(Object.keys(providers), ['messages'], 'the shape is that of all, with one in it');
    const { health, keys } = providers['messages'] as Record<string, unknown>;
    assert.is((health as { state: string }).state, 'healthy');
    assert.equal(
      (keys as { label: string }[]).map((key) => key.label),
      ['MSGPROV_API_KEY'],
    );
    assert.not.match(one.stdout, 'messages-key');
    assert.is((await run(place, ['provider-status', 'nobody'])).code, 5);
    assert.is((await run(place, ['provider-force-health', 'nobody', 'healthy'])).code, 5);
    assert.is((await run(place, [...forced, 'sick'])).code, 2);

    const models = await run(place, ['list-models', 'messages', '--json']);
    assert.is(models.code, 0, models.stderr);
    const { models: list } = JSON.parse(models.stdout) as { models: { id: string }[] };
    assert.ok(list.length > 0);
    const keyless = await run(place, ['list-models', 'chat']);
    assert.is(keyless.code, 7, 'the same as without a proxy');
  }));

test('models are listed without a proxy, and a missing key is reported', () =>
  withUpstream((upstream) =>
    inPlace(async (place) => {
      const env = { ...place.env, CHATPROV_BASE_URL: upstream.url };
      const keyless = await run(place, ['list-models', 'chat'], { env });
      assert.is(keyless.code, 7);
      assert.match(keyless.stderr, /configure a key for provider 'chat'/);
      const listed = await run(place, ['list-models', 'chat'], {
        env: { ...env, CHATPROV_API_KEY: 'k' },
      });
      assert.is(listed.code, 0, listed.stderr);
      assert.match(listed.stdout, /model\s+context\s+in \$\/1M/);
      assert.is(upstream.requests[0]?.header('authorization'), 'Bearer k');
      assert.is((await run(place, ['list-models', 'nobody'], { env })).code, 5);
    }),
  ));

test('prints the price table', () =>
  inPlace(async (place) => {
    const all = await run(place, ['list-pricing', '--json']);
    const { prices } = JSON.parse(all.stdout) as { prices: Record<string, unknown>[] };
    assert.ok(prices.length > 50);
    assert.ok(
      prices.some((line) => line['vendor'] === 'anthropic' && Number(line['input_usd_per_1m']) > 0),
    );
    const one = await run(place, ['list-pricing', '--vendor', 'anthropic']);
    assert.match(one.stdout, /^vendor\s+model\s+in/);
    assert.not.match(one.stdout, 'openai');
    assert.is((await run(place, ['list-pricing', '--vendor', 'nobody'])).code, 5);
  }));

test('the price table starts with the prices from the configuration', () =>
  inPlace(async (place) => {
    const file = join(place.folder, 'own.yaml');
    const pricing = '{ input_cost_per_1m_tokens: 1, output_cost_per_1m_tokens: 2 }';
    const provider = `{ kind: chat, base_url: "http://127.0.0.1:9/v1", pricing: ${pricing} }`;
    writeFileSync(file, `providers:\n  local: ${provider}\n`, { mode: 0o600 });
    const listed = await run(place, ['list-pricing', '--config', file, '--json']);
    const { prices } = JSON.parse(listed.stdout) as { prices: Record<string, unknown>[] };
    const [first] = prices;
    assert.equal(
      [first?.['vendor'], first?.['model'], first?.['input_usd_per_1m']],
      ['local', '*', 1],
    );
    const own = await run(place, ['list-pricing', '--config', file, '--vendor', 'local']);
    assert.match(own.stdout, /local +\* +1 +2/);
  }));

test('the proxy accepts commands from its own user even if it requires a key from others', () =>
  withRunning(async (place) => {
    const json = async (...args: string[]): Promise<Record<string, unknown>> => {
      const { code, stdout, stderr } = await run(place, [...args, '--json']);
      assert.is(code, 0, `${args.join(' ')}: ${stderr}`);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    assert.is((await json('status'))['health'] === null, false);
    assert.is((await json('savings'))['total_requests'], 0);
    assert.type(await json('cache-stats'), 'object');
    assert.equal(await json('pause'), { paused: true });
    assert.equal(await json('resume'), { paused: false });
  }, 'security:\n  require_api_key: true\n'));

test('commands to the proxy are in its log', () =>
  withRunning(async (place) => {
    const commands = ['pause', 'resume', 'debug on', 'debug off'];
    commands.push('provider-force-health messages unhealthy');
    for (const command of commands) assert.is((await run(place, command.split(' '))).code, 0);
    await run(place, ['stop']);
    const { stdout } = await run(place, ['logs', '--json']);
    const lines = stdout.trim().split('\n');
    const texts = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    for (const words of [
      /^paused by command/,
      /^resumed by command/,
      /^the log level is now debug/,
      /^the log level is now info/,
      /^a provider was set to a state by command/,
    ])
      assert.is(texts.filter((msg) => words.test(msg)).length, 1, `${words}: ${stdout}`);
    assert.match(stdout, /"provider":"messages","state":"unhealthy"/);
  }));

test('logs tells where to find the lines that are not in its file', async () => {
  const reported = async (config: string): Promise<string> => {
    let stderr = '';
    await withRunning(async (place) => {
      ({ stderr } = await run(place, ['logs']));
    }, config);
    return stderr;
  };
  assert.match(
    await reported('logging: { destination: stdout }\n'),
    /^The proxy \(pid \d+\) logs to stdout: see the terminal or the service/,
  );
  assert.match(
    await reported('logging: { enabled: false }\n'),
    /writes no log: logging\.enabled is false/,
  );
  assert.not.match(await reported('logging: { level: info }\n'), /The proxy/);
});

test('config reload reports what changed, what needs a restart, and what is wrong', () =>
  withRunning(async (place) => {
    const file = join(place.folder, 'svc.yaml');
    const reload = async (yaml: string, ...more: string[]) => {
      writeFileSync(file, yaml, { mode: 0o600 });
      return run(place, ['config', 'reload', ...more]);
    };
    const same = await reload('compression: { mode: hybrid }\n');
    assert.is(same.code, 0, same.stderr);
    assert.match(same.stdout, /^Read .*svc\.yaml again: no setting has changed\n$/);

    const changed = await reload(
      'compression: { mode: aggressive }\nlogging: { format: text }\nrouting: { fallback: [chat] }\n',
    );
    assert.match(changed.stdout, /In force +compression\.mode, routing\.fallback$/m);
    assert.match(changed.stdout, /After `svc restart` +logging\.format$/m);
    assert.match(changed.stderr, /^! fallback chat has no key/m);

    const waiting = await reload(
      'compression: { mode: strict }\nlogging: { format: text }\nrouting: { fallback: [chat] }\n',
    );
    assert.match(waiting.stdout, /In force +compression\.mode$/m);
    assert.match(
      waiting.stdout,
      /After `svc restart` +logging\.format$/m,
      'the request still waits',
    );

    const wrong = await reload('compression: { mode: fast }\ncach: {}\n');
    assert.is(wrong.code, exitCodes.config);
    assert.is(wrong.stdout, '');
    assert.match(wrong.stderr, /compression\.mode: found "fast"/);
    assert.match(wrong.stderr, /cach.*did you mean cache/);
    assert.match(wrong.stderr, /keeps its current configuration/);

    const json = await reload('compression: { mode: strict }\n', '--json');
    assert.equal(JSON.parse(json.stdout), {
      config_file: file,
      applied: ['routing.fallback'],
      needs_restart: [],
      warnings: [],
    });
  }, 'compression: { mode: hybrid }\n'));

test.run();
