/**
 * Queries the proxies of a fleet over HTTP, with limits on time and size, and reports errors in our
 * own words.
 */
import { SvcError } from '../../engine/error.ts';
import type { ErrorKind } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import type { Member } from '../../server/fleet/fleet-file.ts';
import { isObject, parseJson } from '../../stages/dialect/json-kind.ts';
import type { Headers } from '../../stages/model/headers.ts';
import type { CliContext } from '../context.ts';
import type { Json } from '../remote.ts';

/** Largest response that is read. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** Connections to members. */
export interface Members {
  /**
   * Returns the JSON at a path of a member, with every occurrence of its key masked. Throws
   * `unauthorized`, `forbidden`, `gateway_timeout` or `bad_gateway`, in our own words only.
   */
  ask(member: Member, path: string, withinMs: number): Promise<Json>;
  close(): Promise<void>;
}

/**
 * Opens the connections; they take the same outbound way as requests to providers, and follow no
 * redirects.
 */
export async function openMembers(context: CliContext, config: Config): Promise<Members> {
  const [{ createOutbound }, { createUpstream }, { createCanceller, createTurn }, { readWhole }] =
    await Promise.all([
      import('../../server/outbound/outbound.ts'),
      import('../../stages/providers/undici-upstream.ts'),
      import('../../engine/index.ts'),
      import('../../stages/providers/upstream.ts'),
    ]);
  const upstream = createUpstream(createOutbound(config.outbound), createTurn());

  async function exchange(member: Member, path: string, withinMs: number, key: string | undefined) {
    const { origin, pathname } = new URL(member.url);
    const headers: Headers = ['Accept', 'application/json', ...keyField(key)];
    const canceller = createCanceller();
    let stop = () => {};
    const deadline = new Promise<never>((_resolve, reject) => {
      const end = () => {
        const error = tooLate(withinMs);
        reject(error);
        canceller.abort(error);
      };
      // The clock's own timers would let the process exit first.
      const timer = setTimeout(end, withinMs);
      stop = () => clearTimeout(timer);
    });
    const answer = (async () => {
      const { status, body } = await upstream.send({
        origin,
        path: pathname.replace(/\/$/, '') + path,
        method: 'GET',
        headers,
        body: undefined,
        headTimeoutMs: withinMs,
        idleTimeoutMs: withinMs,
        signal: canceller.signal,
      });
      canceller.signal.addEventListener('abort', () => body.cancel(tooLate(withinMs)));
      if (status !== 200) {
        body.cancel(new Error('the head is enough'));
        return { status, bytes: undefined };
      }
      return { status, bytes: await readWhole(body, MAX_RESPONSE_BYTES) };
    })();
    // It may fail after the timeout, when no one awaits it any more.
    answer.catch(() => undefined);
    try {
      return await Promise.race([answer, deadline]);
    } catch (thrown) {
      throw unreachable(thrown, withinMs);
    } finally {
      stop();
    }
  }

  return {
    async ask(member, path, withinMs) {
      const key = keyOf(member, context);
      const { status, bytes } = await exchange(member, path, withinMs, key);
      if (status !== 200) throw refusal(status, path, key !== undefined);
      const json = bytes === undefined ? undefined : toJson(bytes.toString('utf8'), key);
      if (json !== undefined) return json;
      throw new SvcError('bad_gateway', `${path} answers with something that is not from svc`);
    },
    close: () => upstream.close(),
  };
}

function keyField(key: string | undefined): readonly string[] {
  return key === undefined ? [] : ['X-Svc-Key', key];
}

/** Returns the member's key. Throws `unauthorized` if its variable is not set. */
function keyOf({ key, keyEnv }: Member, { env }: CliContext): string | undefined {
  if (keyEnv === undefined) return key;
  const value = env[keyEnv]?.trim() ?? '';
  if (/^[\u0021-\u007e]+$/.test(value)) return value;
  const what = value === '' ? 'is not set' : 'holds no key';
  throw new SvcError('unauthorized', `the variable ${keyEnv} ${what}`);
}

/** Converts a status other than 200 to an error. The response's own words might contain the key. */
function refusal(status: number, path: string, hadKey: boolean): SvcError {
  const fault = (kind: ErrorKind, words: string) =>
    new SvcError(kind, `${words} (${status} at ${path})`);
  if (status === 401)
    return fault('unauthorized', hadKey ? 'it refuses the key' : 'it asks for a key');
  if (status === 403)
    return fault('forbidden', 'it does not accept this host name: see its server.allowed_hosts');
  if (status === 404) return fault('bad_gateway', 'not an svc proxy, or an older one');
  if (status >= 300 && status < 400)
    return fault('bad_gateway', 'it redirects, which is not followed');
  return fault('bad_gateway', 'it cannot answer');
}

function unreachable(thrown: unknown, withinMs: number): SvcError {
  if (!(thrown instanceof SvcError)) throw thrown;
  if (thrown.kind === 'gateway_timeout') return tooLate(withinMs);
  const { code } = (thrown.cause ?? {}) as { code?: unknown };
  const why = typeof code === 'string' ? code : thrown.message;
  return new SvcError('bad_gateway', `cannot be reached: ${why}`, { cause: thrown });
}

function tooLate(withinMs: number): SvcError {
  return new SvcError('gateway_timeout', `no answer within ${withinMs / 1000} s`);
}

function toJson(text: string, key: string | undefined): Json | undefined {
  const value = withoutKey(parseJson(text), key ?? '');
  return isObject(value) ? value : undefined;
}

/** Returns a value with every occurrence of the key masked, including in member names. */
function withoutKey(value: unknown, key: string): unknown {
  if (key === '') return value;
  const blot = (text: string) => text.replaceAll(key, '[key]');
  if (typeof value === 'string') return blot(value);
  if (Array.isArray(value)) return value.map((one) => withoutKey(one, key));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [blot(name), withoutKey(one, key)]),
  );
}
