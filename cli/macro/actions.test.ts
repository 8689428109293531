/** The effect of each macro action on a running proxy. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMPRESS, LOG, macro, runSteps } from '../../fixtures/cli/macros.ts';
import { inPlace, run, start, write } from '../../fixtures/cli/run.ts';
import { closeClients, exchange, json, MESSAGE } from '../../fixtures/server/exchange.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { ACTIONS } from '../../stages/macros/actions.ts';
import type { CommandAction } from '../../stages/macros/macro.ts';
import { exitCodes } from '../exit.ts';

test.after(closeClients);

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

test('every action has its stated effect on a running proxy', async () => {
  const upstream = await startUpstream();
  const ended = inPlace(async (place) => {
    const config = 'cache: { enabled: true }\n';
    write(place, 'svc.yaml', config);
    write(place, 'note.md', '# Limits\n\nThe limiter of turnips is in gate/turnip.ts.\n');
    write(place, 'build.log', LOG);
    await run(place, ['recipe', 'create', 'my-tool']);
    // A kind of output on which 1 % is saved, after more blocks than a rule takes.
    fs.mkdirSync(place.home, { mode: 0o700 });
    const seen = { samples: 50, over: 990, under: 1000 };
    fs.writeFileSync(
      join(place.home, 'learned.json'),
      JSON.stringify({ format: 1, applied: null, patterns: [['hybrid log Slow', seen]] }),
      { mode: 0o600 },
    );
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
      const port = Number((await proxy.prints(/127\.0\.0\.1:(\d+)/))[1]);
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
      /**
       * Returns the bytes sent for a new conversation with a log printed by the tool of that name.
       */
      const sentAsResultOf = async (tool: string, about: string): Promise<number> => {
        const log = ROWS.replaceAll('fetches', `fetches ${about}`);
        const call = { type: 'tool_use', id: 't1', name: tool, input: {} };
        const result = { type: 'tool_result', tool_use_id: 't1', content: log };
        const messages = [
          { role: 'user', content: `Look at ${about}.` },
          { role: 'assistant', content: [call] },
          { role: 'user', content: [result] },
        ];
        await ask({ messages });
        return upstream.requests.at(-1)!.body.length;
      };
      const effects: Record<CommandAction, () => Promise<void>> = {
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
          const status = () => asJson('learn', 'status');
          const skipped = { mode: 'hybrid', class: 'log', tool: 'Slow' };
          assert.is((await status())['applied'], null);
          await step('learn: { do: apply }');
          assert.ok((await sentAsResultOf('Slow', 'b')) > ROWS.length, 'left out of compression');
          assert.ok((await sentAsResultOf('Quick', 'c')) < ROWS.length, 'and no other tool');
          const { applied, patterns } = await status();
          assert.equal((applied as { skip: unknown }).skip, [skipped]);
          assert.ok(
            (patterns as object[]).length > 1,
            'the earlier row and the one sent in this test',
          );
          await step('learn: { do: reset }');
          const after = await status();
          assert.equal([after['applied'], after['patterns']], [null, []]);
          assert.ok((await sentAsResultOf('Slow', 'd')) < ROWS.length, 'compressed again');
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
          assert.match(refused.stderr, /done: step 1 \(debug\); `svc debug off` undoes it/);
          assert.match(refused.stderr, /not run: step 3 \(pause\)/);
          assert.match(refused.stderr, /`svc macro run m --from 2`/);
          assert.match(refused.stdout, /^1 of 3 +debug +Debug logging is on$/m);
        },
      };
      const ofCommand = Object.entries(ACTIONS).filter(([, action]) => !('inStage' in action));
      assert.equal(
        Object.keys(effects),
        ofCommand.map(([name]) => name),
      );
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
      // The program listening there does not know macros.
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

test.run();
