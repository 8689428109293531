/**
 * The connection to Redis. Only this module loads the client, and is itself loaded only if
 * `shared.redis_url` is set. Commands are never queued: one that cannot be sent fails at once.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import type { Connection, ConnectionEvents, Reply, Script } from './connection.ts';

const CONNECT_MS = 5000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2000;
/** Keeps a fleet from reconnecting in step. */
const JITTER_MS = 100;

/** Connects in the background, and reconnects until closed. */
export function connectRedis(address: RedisAddress, events: ConnectionEvents): Connection {
  const { host, port, username, password, db, tls } = address;
  const redis = new Redis({
    host,
    port,
    db,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    // An IP address cannot be sent as SNI; its certificate is still checked.
    ...(tls && { tls: isIP(host) === 0 ? { servername: host } : {} }),
    // Understood by older servers and every compatible one.
    protocol: 2,
    connectionName: 'svc',
    disableClientInfo: true,
    connectTimeout: CONNECT_MS,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) =>
      Math.min(FIRST_RETRY_MS * 2 ** Math.min(times - 1, 10), MAX_RETRY_MS) +
      Math.random() * JITTER_MS,
  });
  redis.on('ready', () => events.ready());
  redis.on('error', (error) => events.failed(error));
  redis.on('close', () => events.closed());
  const call = async (words: readonly (string | Buffer)[]): Promise<Reply> => {
    const [command = '', ...rest] = words;
    return redis.callBuffer(String(command), ...rest) as Promise<Reply>;
  };
  return {
    get isReady() {
      return redis.status === 'ready';
    },
    call,
    async run(script, keys, values) {
      const rest = [String(keys.length), ...keys, ...values];
      try {
        return await call(['EVALSHA', shaOf(script), ...rest]);
      } catch (thrown) {
        // Redis was restarted, or has never seen the script.
        if (!(thrown instanceof Error) || !thrown.message.startsWith('NOSCRIPT')) throw thrown;
        return call(['EVAL', script.lua, ...rest]);
      }
    },
    reconnect: () => redis.disconnect(true),
    close: () => redis.disconnect(),
  };
}

const shas = new WeakMap<Script, string>();

/** Returns the hash by which Redis identifies a script. */
function shaOf(script: Script): string {
  const known = shas.get(script) ?? createHash('sha1').update(script.lua).digest('hex');
  shas.set(script, known);
  return known;
}
