/** Records one session: a real client, from its first prompt to its last, in its own work tree. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { asObject } from '../../fixtures/upstream/reply.ts';
import { clientEnv, killGroup } from '../../fixtures/clients/scenario.ts';

/** The setup of a client, started in `work` with its own home. */
export interface ClientSetup {
  readonly prefix: string;
  readonly home: string;
  readonly work: string;
  /** Address of its provider. */
  readonly url: string;
}

/** Sends the client one prompt after another; each call resolves when it has responded. */
export interface Recorder {
  prompt(text: string): Promise<void>;
  end(): Promise<void>;
}

const TIMEOUT_MS = 600_000;
const MODEL = 'claude-sonnet-4-5';
const KEY = 'sk-ant-api03-fixture';

function start(
  { prefix, home, work }: ClientSetup,
  bin: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  const child = spawn(join(prefix, 'node_modules/.bin', bin), args, {
    cwd: work,
    env: { ...clientEnv(home), ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const timer = setTimeout(() => killGroup(child.pid), TIMEOUT_MS);
  child.once('close', () => clearTimeout(timer));
  return child;
}

const exitOf = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => {
      killGroup(child.pid);
      if (exit === 0) resolve();
      else reject(new Error(`the client ended with ${exit}`));
    });
  });

/** Runs one process for the whole session, with prompts on its stdin. */
export function startClaudeCode(place: ClientSetup): Recorder {
  const args = [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--verbose',
    '--model',
    MODEL,
    '--dangerously-skip-permissions',
  ];
  const child = start(place, 'claude', args, {
    ANTHROPIC_BASE_URL: place.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  });
  const ended = exitOf(child);
  let answered = (): void => undefined;
  createInterface(child.stdout!).on('line', (line) => {
    if (line.startsWith('{"type":"result"') || /"type":"result"/.test(line.slice(-2000)))
      answered();
  });
  return {
    async prompt(text) {
      const content = [{ type: 'text', text }];
      const done = new Promise<void>((resolve) => (answered = resolve));
      child.stdin!.write(
        `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`,
      );
      await Promise.race([done, ended.then(() => Promise.reject(new Error('the client left')))]);
    },
    async end() {
      child.stdin!.end();
      await ended;
    },
  };
}

/** Runs one process for the whole session, controlled over its own API. */
export function startOpencode(place: ClientSetup): Recorder {
  const options = { baseURL: `${place.url}/v1`, apiKey: KEY };
  const models = { [MODEL]: { name: 'Fixture' } };
  const provider = { anthropic: { npm: '@ai-sdk/anthropic', options, models } };
  const folder = join(place.home, '.config/opencode');
  mkdirSync(folder, { recursive: true });
  const config = { provider, permission: 'allow', autoupdate: false, share: 'disabled' };
  writeFileSync(join(folder, 'opencode.json'), JSON.stringify(config));
  const child = start(place, 'opencode', ['serve', '--hostname', '127.0.0.1', '--port', '0'], {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const origin = new Promise<string>((resolve) => {
    createInterface(child.stdout!).on('line', (line) => {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
  const ask = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${await origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`opencode answers ${path} with ${response.status}`);
    return response.json();
  };
  const session = ask('/session', { title: 'A session' }).then((made) =>
    String(asObject(made)['id']),
  );
  return {
    async prompt(text) {
      const model = { providerID: 'anthropic', modelID: MODEL };
      await ask(`/session/${await session}/message`, { model, parts: [{ type: 'text', text }] });
    },
    async end() {
      killGroup(child.pid, 'SIGTERM');
      await exited;
    },
  };
}
