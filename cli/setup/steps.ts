/** The steps of `svc setup`, after confirmation. Each one is completed or has no effect. */
import { SvcError } from '../../engine/error.ts';
import type { ErrorKind } from '../../engine/error.ts';
import { toReachableUrl } from '../address.ts';
import { replaceConfigFile } from '../config-file.ts';
import type { CliContext } from '../context.ts';
import { startInBackground } from '../process/daemon.ts';
import { applyTo } from '../integrate/apply.ts';
import type { Client } from '../integrate/client.ts';
import { withLock } from '../integrate/lock.ts';
import { withLoopback } from '../process/loopback.ts';
import { control, readOwn } from '../remote.ts';
import type { DetectedSetup } from './detect.ts';
import type { Plan } from './plan.ts';

export interface WrittenConfig {
  readonly path: string;
  readonly outcome: 'created' | 'changed' | 'kept';
  /** Backup of the previous file. */
  readonly backup: string | null;
}

/**
 * Writes the config file, and makes a running proxy read it; if that refuses, nothing has changed.
 */
export async function writeConfig(
  { config }: Plan,
  { home, file }: DetectedSetup,
  context: CliContext,
): Promise<WrittenConfig> {
  const { path, bytes } = file;
  if (config === undefined) return { path, outcome: 'kept', backup: null };
  const { backup } = await replaceConfigFile(config, file, home, context);
  return { path, outcome: bytes === undefined ? 'created' : 'changed', backup };
}

export interface RunningProxyFacts {
  readonly url: string;
  readonly pid: number;
  readonly outcome: 'started' | 'reloaded' | 'running';
  /** Status in `/health`: `ok` or `degraded`. */
  readonly health: string;
}

/** Starts the proxy if none runs, and checks its health. */
export async function startProxy(
  isReloaded: boolean,
  { home, running, url }: DetectedSetup,
  context: CliContext,
): Promise<RunningProxyFacts> {
  const healthOf = async () => {
    const { status } = await readOwn(home, '/health');
    return typeof status === 'string' ? status : 'unknown';
  };
  if (running === undefined) {
    const started = await startInBackground(home, {}, context, context.cwd);
    const { pid } = started;
    return { url: toReachableUrl(started.url), pid, outcome: 'started', health: await healthOf() };
  }
  const outcome = isReloaded ? 'reloaded' : 'running';
  return { url, pid: running.pid, outcome, health: await healthOf() };
}

/** Result of a request through svc to the built-in provider. */
export interface TestRequest {
  readonly status: number;
  readonly inputTokens: number | null;
  readonly savedTokens: number | null;
}

/**
 * Sends the last turn of the demo's session through a proxy of this mode.
 *
 * @throws SvcError `internal` if it fails.
 */
export function testRequest(mode: string, context: CliContext): Promise<TestRequest> {
  return withLoopback(context, { 'compression.mode': mode }, async ({ session, play }) => {
    const turn = session.turns.at(-1);
    if (turn === undefined) throw new SvcError('internal', 'The test session is empty');
    const { status, row } = await play(turn);
    if (status !== 200 || row['outcome'] !== 'ok')
      throw new SvcError('internal', `The test request was answered with ${status}`, {
        cure: '`svc doctor` looks for the cause.',
      });
    const figure = (name: string) => {
      const value = row[name];
      return typeof value === 'number' ? value : null;
    };
    return { status, inputTokens: figure('input_tokens'), savedTokens: figure('tokens_saved') };
  });
}

/** A provider's models, or why they could not be listed. */
export interface ProviderModels {
  readonly provider: string;
  readonly models: number | null;
  readonly error: string | null;
  readonly kind: ErrorKind | null;
}

/** Lists a provider's models, through the running proxy and with its key. */
export async function requestModels(home: string, provider: string): Promise<ProviderModels> {
  try {
    const { models } = await control(home, 'list-models', { provider });
    return {
      provider,
      models: Array.isArray(models) ? models.length : null,
      error: null,
      kind: null,
    };
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    return { provider, models: null, error: thrown.message, kind: thrown.kind };
  }
}

/** How a client was pointed at the proxy. */
export interface PointedClient {
  readonly client: string;
  readonly name: string;
  readonly file: string | null;
  readonly backup: string | null;
  readonly error: string | null;
  readonly kind: ErrorKind | null;
}

/** Writes the settings of one client, which `svc integrate <client> --undo` reverts. */
export async function pointClient(
  client: Client,
  url: string,
  home: string,
  context: CliContext,
): Promise<PointedClient> {
  const base = { client: client.id, name: client.name };
  try {
    const now = new Date(context.clock.wallMs()).toISOString();
    const { file, backup } = await withLock(home, context.clock, () =>
      applyTo(client, { home, where: context, url, now }),
    );
    return { ...base, file, backup, error: null, kind: null };
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    return { ...base, file: null, backup: null, error: thrown.message, kind: thrown.kind };
  }
}
