/** Sets up what proxies share through Redis, if the configuration names one. */
import { randomBytes } from 'node:crypto';
import { SvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { redisAddress, redisPlace } from '../config/redis-address.ts';
import type { Config } from '../config/config.ts';
import type { StageLog } from '../../stages/services.ts';
import { sharedName, thisMachine } from './key-names.ts';
import { RedisLink } from './link.ts';

/** Longest that a start waits for Redis; the proxy then starts without it. */
const START_MS = 500;

/** The link, and what distinguishes this machine from others that share. */
export interface Shared {
  readonly link: RedisLink;
  readonly machine: string;
  /** Random id of this process, new after every start. */
  readonly proxyId: string;
}

/**
 * Connects if `shared.redis_url` is set; undefined if not, and then nothing is loaded. Throws
 * `config` (CONFIG_002) if the client is not installed; an unreachable Redis is not an error.
 */
export async function openShared(
  { shared }: Pick<Config, 'shared'>,
  log: StageLog,
  clock: Clock,
): Promise<Shared | undefined> {
  if (shared.redisUrl === null) return undefined;
  const link = await connectLink(shared.redisUrl, log, clock);
  await link.settled(START_MS);
  return { link, machine: thisMachine(), proxyId: randomBytes(16).toString('base64url') };
}

/**
 * Creates a link and starts connecting. Throws `config` (CONFIG_002) if the client is not
 * installed.
 */
export async function connectLink(url: string, log: StageLog, clock: Clock): Promise<RedisLink> {
  const address = redisAddress(url);
  const { connectRedis } = await loadClient();
  return new RedisLink({
    connect: (events) => connectRedis(address, events),
    clock,
    log,
    place: redisPlace(address),
    trialKey: sharedName('trial'),
  });
}

async function loadClient(): Promise<typeof import('./redis-client.ts')> {
  return import('./redis-client.ts').catch((cause: unknown) => {
    throw new SvcError(
      'config',
      'shared.redis_url needs a package that is not installed: ioredis',
      {
        code: 'CONFIG_002',
        cause,
        cure: 'Install the optional dependencies (npm install --include=optional), or leave shared.redis_url out.',
      },
    );
  });
}
