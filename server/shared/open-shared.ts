/** What proxies share through Redis, for a proxy whose configuration names one. */
import { randomBytes } from 'node:crypto';
import { SvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { redisAddress, redisPlace } from '../config/redis-address.ts';
import type { Config } from '../config/config.ts';
import type { StageLog } from '../../stages/services.ts';
import { sharedName, thisMachine } from './key-names.ts';
import { RedisLink } from './link.ts';

/** Longest that a start waits for Redis; it goes on without. */
const START_MS = 500;

/** The link, and what tells this machine from others that share. */
export interface Shared {
  readonly link: RedisLink;
  readonly machine: string;
  /** A word that no other proxy has. */
  readonly ownWord: string;
}

/**
 * Connects where `shared.redis_url` is set; undefined where it is not, and nothing is loaded then.
 * Throws `config` (CONFIG_002) where the client is not installed; a Redis that is away is none.
 */
export async function openShared(
  { shared }: Pick<Config, 'shared'>,
  log: StageLog,
  clock: Clock,
): Promise<Shared | undefined> {
  if (shared.redisUrl === null) return undefined;
  const link = await connectLink(shared.redisUrl, log, clock);
  await link.settled(START_MS);
  return { link, machine: thisMachine(), ownWord: randomBytes(16).toString('base64url') };
}

/** A link that connects from now on; throws `config` (CONFIG_002) where the client is not installed. */
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
