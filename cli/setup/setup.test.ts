/** The wizard: what it writes and starts, and that nothing happens without consent. */
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startUpstream } from '../../fixtures/upstream.ts';
import { runningInstance } from '../process/daemon.ts';
import { exitCodes } from '../exit.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import type { Place } from '../../fixtures/cli/run.ts';

interface Outcome {
  readonly config: { path: string; outcome: string; backup: string | null };
  readonly proxy: { url: string; pid: number; outcome: string; health: string };
  readonly test: { status: number; input_tokens: number; saved_tokens: number };
  readonly providers: readonly { provider: string; models: number | null; error: string | null }[];
  readonly clients: readonly { client: string; file: string | null; error: string | null }[];
}

/** A machine with Claude Code, a key and a listening provider; ports in `env` are free ones. */
async function newcomer() {
  const place = makePlace();
  const upstream = await startUpstream();
  const claude = join(place.folder, '.claude/settings.json');
  fs.mkdirSync(join(place.folder, '.claude'));
  fs.writeFileSync(claude, '{"a": 1}');
  const env = {
    ...place.env,
    PATH: '',
    SVC_PORT: '0',
    SVC_WS_PORT: '0',
    ANTHROPIC_API_KEY: 'sk-newcomer',
    MSGPROV_BASE_URL: upstream.url,
  };
  return {
    place,
    env,
    upstream,
    claude,
    dispose: async () => {
      await run(place, ['stop', '--force']);
      await upstream.close();
      place.dispose();
    },
  };
}

/** Returns the files in the place with their contents, to check that nothing was changed. */
function filesOf({ folder }: Place): Readonly<Record<string, string>> {
  return Object.fromEntries(
    fs
      .readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => [name, join(folder, name)] as const)
      .filter(([, path]) => fs.statSync(path).isFile())
      .map(([name, path]) => [name, fs.readFileSync(path, 'utf8')]),
  );
}

const typed = (...lines: readonly string[]) => {
  const stdin = new PassThrough();
  stdin.end(lines.map((line) => `${line}\n`).join(''));
  return stdin;
};

test('--yes writes, starts, verifies and integrates clients, and calls no provider', async () => {
  const { place, env, upstream, claude, dispose } = await newcomer();
  const { code, stdout, stderr } = await run(place, ['setup', '--yes', '--json'], { env });
  assert.is(code, 0, stderr);
  const outcome = JSON.parse(stdout) as Outcome;
  const config = join(place.home, 'config.yaml');
  assert.equal(outcome.config, { path: config, outcome: 'created', backup: null });
  assert.is(fs.statSync(config).mode & 0o777, 0o600);
  // The file was shown before it was written, and contains no key.
  for (const line of fs.readFileSync(config, 'utf8').trim().split('\n'))
    assert.ok(stderr.includes(line), line);
  assert.not.match(`${stdout}${stderr}${fs.readFileSync(config, 'utf8')}`, 'sk-newcomer');
  assert.match(stderr, 'messages from ANTHROPIC_API_KEY');
  assert.not.match(stderr, 'subscription');
  const running = runningInstance(place.home);
  assert.is(running?.pid, outcome.proxy.pid);
  assert.equal([outcome.proxy.outcome, outcome.proxy.health], ['started', 'ok']);
  assert.is(outcome.test.status, 200);
  assert.ok(outcome.test.saved_tokens > 0);
  assert.ok(
    fs.readFileSync(claude, 'utf8').includes(`"ANTHROPIC_BASE_URL": "${outcome.proxy.url}"`),
  );
  assert.equal(outcome.providers, []);
  assert.is(upstream.requests.length, 0);

  // The second time there is nothing to do, and --online sends its request through the running
  // proxy.
  const again = await run(place, ['setup', '--yes', '--json', '--online'], { env });
  const second = JSON.parse(again.stdout) as Outcome;
  assert.equal([again.code, second.config.outcome, second.proxy.outcome], [0, 'kept', 'running']);
  assert.equal(second.clients, []);
  assert.is(second.providers[0]?.error, null);
  assert.ok(Number(second.providers[0]?.models) > 0);
  assert.match(upstream.requests[0]?.path ?? '', '/v1/models');
  await dispose();
});

test('the end of the input counts as a refusal at every question', async () => {
  const { place, env, dispose } = await newcomer();
  const before = filesOf(place);
  const answers = ['aggressive', 'all', 'y'];
  for (let count = 0; count <= answers.length; count += 1) {
    const stdin = typed(...answers.slice(0, count));
    const { code, stdout, stderr } = await run(place, ['setup'], { env, stdin });
    assert.equal([code, stdout], [exitCodes.cancelled, ''], stderr);
    assert.match(stderr, 'The input ended before an answer: nothing was changed');
    assert.equal(filesOf(place), before);
  }
  const { code, stderr } = await run(place, ['setup'], { env, stdin: typed(...answers, 'n') });
  assert.is(code, exitCodes.cancelled);
  assert.match(stderr, 'Not confirmed: nothing was changed');
  assert.equal(filesOf(place), before);
  assert.is(runningInstance(place.home), undefined);
  await dispose();
});

test('answers are followed, and an invalid answer is asked for again', async () => {
  const { place, env, upstream, claude, dispose } = await newcomer();
  const stdin = typed('sometimes', '3', 'none', 'yes', '');
  const { code, stdout, stderr } = await run(place, ['setup'], { env, stdin });
  assert.is(code, 0, stderr);
  assert.match(stderr, "'sometimes' is not one of the choices.");
  assert.match(fs.readFileSync(join(place.home, 'config.yaml'), 'utf8'), /^ {2}mode: aggressive$/m);
  assert.is(fs.readFileSync(claude, 'utf8'), '{"a": 1}');
  assert.is(upstream.requests.length, 1);
  assert.match(stdout, /^✓ Config {4}~\/home\/config\.yaml created$/m);
  assert.match(stdout, /^✓ Proxy {5}started on http:\/\/127\.0\.0\.1:\d+ \(pid \d+\), health ok$/m);
  assert.match(stdout, /^✓ Test {6}answered with 200; of [\d,]+ tokens [\d,]+ saved$/m);
  assert.match(stdout, /^✓ Provider {2}messages takes the key and lists \d+ models$/m);
  await dispose();
});

test('a user with a subscription is asked once how svc may use it, and told how to change that', async () => {
  const { place, env, dispose } = await newcomer();
  // Its existence is a sign; the file is never read.
  fs.writeFileSync(join(place.folder, '.claude/.credentials.json'), '', { mode: 0 });
  const config = join(place.home, 'config.yaml');
  const stdin = typed('hybrid', 'rewrite', 'none', 'no', 'yes');
  const { code, stderr } = await run(place, ['setup'], { env, stdin });
  assert.is(code, 0, stderr);
  const flat = stderr.replaceAll(/\s+/g, ' ');
  assert.match(flat, 'what may svc do with its requests?');
  assert.match(flat, 'its terms may forbid that');
  assert.match(flat, "- compress a subscription's requests too");
  assert.match(flat, 'compression.subscription_traffic: false in ~/home/config.yaml');
  assert.match(fs.readFileSync(config, 'utf8'), /^ {2}subscription_traffic: true$/m);

  const again = await run(place, ['setup', '--keep-clients'], { env, stdin: typed('no', 'yes') });
  assert.is(again.code, 0, again.stderr);
  assert.not.match(again.stderr, 'what may svc do');
  const back = ['setup', '--yes', '--keep-clients', '--subscription', 'look'];
  assert.is((await run(place, back, { env })).code, 0);
  assert.match(fs.readFileSync(config, 'utf8'), /^ {2}subscription_traffic: false$/m);
  const wrong = await run(place, ['setup', '--yes', '--subscription', 'all'], { env });
  assert.is(wrong.code, exitCodes.usage);
  await dispose();
});

/** Returns a terminal that types `keys`, one per question. */
function terminal(keys: readonly string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 40 });
  let screen = '';
  let answered = 0;
  output.on('data', (piece: Buffer) => {
    screen += piece.toString();
    const questions = screen.split('◆').length - 1;
    if (questions <= answered || answered >= keys.length) return;
    const key = keys[answered];
    answered += 1;
    setTimeout(() => input.write(key), 20);
  });
  return { stdin: input, stderr: output, screen: () => screen };
}

test('Ctrl-C at each menu changes nothing', async () => {
  const { place, env, dispose } = await newcomer();
  const before = filesOf(place);
  for (let enters = 0; enters <= 3; enters += 1) {
    const keys = [...Array.from({ length: enters }, () => '\r'), '\u0003'];
    const { stdin, stderr, screen } = terminal(keys);
    const { code } = await run(place, ['setup'], { env, stdin, stderr });
    assert.is(code, exitCodes.cancelled, screen());
    assert.match(screen(), 'Interrupted: nothing was changed');
    assert.equal(filesOf(place), before);
  }
  await dispose();
});

test('an existing config file keeps its comments and is backed up; a taken port is avoided', async () => {
  const { place, env, dispose } = await newcomer();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const former = `# Mine.\nserver:\n  port: ${port} # the usual\nlogging:\n  level: debug\n`;
  const path = join(place.home, 'config.yaml');
  fs.mkdirSync(place.home, { mode: 0o700 });
  fs.writeFileSync(path, former, { mode: 0o644 });
  const { SVC_PORT, SVC_WS_PORT, ...rest } = env;
  assert.equal([SVC_PORT, SVC_WS_PORT], ['0', '0']);
  const argv = ['setup', '--yes', '--keep-clients', '--json', '--mode', 'strict'];
  const { code, stdout, stderr } = await run(place, argv, { env: rest });
  assert.is(code, 0, stderr);
  const outcome = JSON.parse(stdout) as Outcome;
  const text = fs.readFileSync(path, 'utf8');
  assert.match(text, /^# Mine\.\nserver:\n {2}port: \d+ # the usual\nlogging:\n {2}level: debug\n/);
  assert.match(text, /^compression:\n {2}mode: strict$/m);
  assert.is(new URL(outcome.proxy.url).port, /port: (\d+)/.exec(text)?.[1]);
  assert.is.not(Number(new URL(outcome.proxy.url).port), port);
  assert.is(fs.statSync(path).mode & 0o777, 0o600);
  assert.is(fs.readFileSync(outcome.config.backup ?? '', 'utf8'), former);
  assert.is(outcome.test.saved_tokens, 0, 'strict changes nothing');
  assert.match(stderr, `${port} is taken by another program`);
  assert.match(stderr, `-  port: ${port} # the usual`);
  other.close();
  await dispose();
});

test('lines are added to the file that config init writes, and none is lost', async () => {
  const { place, env, dispose } = await newcomer();
  assert.is((await run(place, ['config', 'init'])).code, 0);
  const path = join(place.home, 'config.yaml');
  const former = fs.readFileSync(path, 'utf8').split('\n');
  const argv = ['setup', '--yes', '--keep-clients', '--json', '--mode', 'aggressive'];
  const { code, stderr } = await run(place, argv, { env });
  assert.is(code, 0, stderr);
  const lines = fs.readFileSync(path, 'utf8').split('\n');
  assert.is(lines[lines.indexOf('compression:') + 1], '  mode: aggressive');
  assert.equal(
    lines.filter((line) => line !== '  mode: aggressive'),
    former,
  );
  await dispose();
});

test('a faulty configuration is named, and nothing is done', async () => {
  const { place, env, dispose } = await newcomer();
  fs.mkdirSync(place.home, { mode: 0o700 });
  fs.writeFileSync(join(place.home, 'config.yaml'), 'compression:\n  mode: tiny\n');
  const before = filesOf(place);
  const { code, stderr } = await run(place, ['setup', '--yes'], { env });
  assert.is(code, exitCodes.config);
  assert.match(stderr, 'compression.mode');
  assert.equal(filesOf(place), before);
  await dispose();
});

test.run();
