/**
 * A response cache shared by several proxies: each keeps its own responses as before and also
 * writes them to Redis, which it asks for any response it lacks. Local ones are bounded by
 * `cache.max_size_mb`, those in Redis by their TTL and by Redis's own memory limit.
 *
 * A response from Redis is not stored locally as well, since it would then be served beyond its
 * TTL.
 */
import { SvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { answerBytes, createLookupCount, largestAnswer } from '../../stages/answers/answer.ts';
import type { AnswerBounds, AnswerStore, KeptAnswer } from '../../stages/answers/answer.ts';
import { decodeAnswer, encodeAnswer } from '../../stages/answers/file-format.ts';
import { listOf, textOf } from './connection.ts';
import type { Reply, Script } from './connection.ts';
import { PREFIX, sharedName } from './key-names.ts';
import type { RedisLink } from './link.ts';
import { seal, unseal } from './seal.ts';

/** A larger response would hold up the commands queued after it on the connection. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Memory limit for responses being written to Redis; beyond it they are kept locally only. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;
/** Keys that one scan step of `clear` visits. */
const SCANNED = '1000';

/** Returns a response and its remaining milliseconds. */
const GET: Script = { lua: "return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}" };

export interface SharedAnswersOptions extends AnswerBounds {
  /** The local cache of this proxy. */
  readonly own: AnswerStore;
  readonly link: RedisLink;
  readonly clock: Clock;
}

/** Creates a cache that reads this proxy's responses first, then those of others. */
export function createSharedAnswers(options: SharedAnswersOptions): AnswerStore {
  const { own, link, clock } = options;
  const lookups = createLookupCount();
  let { maxBytes, ttlMs } = options;
  let queuedBytes = 0;
  let failures = 0;
  /** Resolves when every queued write has been sent. Never rejects. */
  let pendingWrites: Promise<void> = Promise.resolve();

  async function find(key: string, kept: Promise<KeptAnswer | undefined> | undefined) {
    const answer = (await kept) ?? (await fetchShared(key));
    lookups.add(answer !== undefined);
    return answer;
  }

  async function fetchShared(key: string): Promise<KeptAnswer | undefined> {
    const found = await link.ask((redis) => redis.run(GET, [sharedName('answer', key)], []));
    return found === undefined ? undefined : read(key, found);
  }

  function read(key: string, found: Reply): KeptAnswer | undefined {
    const [sealed, leftMs] = listOf(found);
    if (!Buffer.isBuffer(sealed) || typeof leftMs !== 'number') return undefined;
    const bytes = unseal(sealed, key);
    const stored = bytes === undefined ? undefined : decodeStored(bytes);
    if (stored?.key !== key) {
      failures += 1;
      return undefined;
    }
    // The proxy that stored the response may have a longer TTL than ours.
    return stored.ttlMs - leftMs < ttlMs ? stored.answer : undefined;
  }

  async function store(key: string, answer: KeptAnswer): Promise<void> {
    const bytes = encodeStored(key, answer, ttlMs, clock);
    if (queuedBytes + bytes.length > MAX_QUEUED_BYTES) return;
    queuedBytes += bytes.length;
    const command = ['SET', sharedName('answer', key), seal(bytes, key)];
    const lifetimeMs = String(Math.ceil(ttlMs));
    const reply = await link.ask((redis) => redis.call([...command, 'PX', lifetimeMs]));
    if (reply === undefined) failures += 1;
    queuedBytes -= bytes.length;
  }

  function isShareable(answer: KeptAnswer): boolean {
    const limitBytes = Math.min(MAX_ANSWER_BYTES, largestAnswer(maxBytes));
    return link.isUp && ttlMs >= 1 && answerBytes(answer) <= limitBytes;
  }

  async function clearShared(): Promise<void> {
    let cursor: string | undefined = '0';
    do {
      const command: string[] = ['SCAN', cursor, 'MATCH', `${PREFIX}answer:*`, 'COUNT', SCANNED];
      const found = await link.ask((redis) => redis.call(command));
      const [next, listed] = listOf(found);
      const names = listOf(listed).filter((name) => Buffer.isBuffer(name));
      const removed =
        names.length === 0 || (await link.ask((redis) => redis.call(['UNLINK', ...names])));
      if (found === undefined || removed === undefined) throw notCleared(link);
      cursor = textOf(next);
    } while (cursor !== undefined && cursor !== '0');
  }

  return {
    get(key) {
      const kept = own.get(key);
      if (kept !== undefined && !(kept instanceof Promise)) {
        lookups.add(true);
        return kept;
      }
      if (kept === undefined && !link.isUp) {
        lookups.add(false);
        return undefined;
      }
      return find(key, kept);
    },
    put(key, answer) {
      own.put(key, answer);
      if (!isShareable(answer)) return;
      const queued = store(key, answer).catch(() => {
        failures += 1;
      });
      pendingWrites = pendingWrites.then(() => queued);
    },
    stats: () => {
      const stats = own.stats();
      return { ...stats, ...lookups.view(), failures: stats.failures + failures };
    },
    configure(bounds) {
      ({ maxBytes, ttlMs } = bounds);
      own.configure(bounds);
    },
    /** Rejects with `unavailable` if Redis could not be reached. */
    async clear() {
      await own.clear();
      await clearShared();
    },
    async settled() {
      await own.settled();
      await pendingWrites;
    },
  };
}

function notCleared(link: RedisLink): SvcError {
  const { place, reason } = link.view();
  return new SvcError(
    'unavailable',
    `The answers of this proxy are gone; those in Redis at ${place} are not: ${reason ?? 'it did not answer in time'}`,
    { cure: 'Clear the cache again when `svc doctor` says that Redis answers.' },
  );
}

/** Each response is prefixed with its TTL; the remaining TTL in Redis then gives its age. */
const TTL_BYTES = 8;

function encodeStored(key: string, answer: KeptAnswer, ttlMs: number, clock: Clock): Buffer {
  const ttl = Buffer.alloc(TTL_BYTES);
  ttl.writeDoubleBE(ttlMs);
  return Buffer.concat([ttl, encodeAnswer({ key, keptAtMs: clock.wallMs(), answer })]);
}

function decodeStored(bytes: Buffer) {
  const stored = bytes.length < TTL_BYTES ? undefined : decodeAnswer(bytes.subarray(TTL_BYTES));
  return stored && { ...stored, ttlMs: bytes.readDoubleBE(0) };
}
