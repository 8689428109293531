/** Kills Postgres and Redis alternately while two proxies are under load. */
import { join } from 'node:path';
import { startPostgres } from '../../fixtures/postgres.ts';
import { startRedis } from '../../fixtures/server/redis.ts';
import { pause } from '../../fixtures/wait.ts';
import { prepareHome, withSite } from './site.ts';
import { becomesTrue } from './storm.ts';
import type { Storm } from './storm.ts';
import { failuresText, startTraffic } from './traffic.ts';

const servers: Storm['run'] = async ({ seconds }, report) => {
  const postgres = await startPostgres();
  const redis = await startRedis();
  try {
    const db = await postgres.create('storm');
    return await withSite(
      async (site) => {
        const other = join(site.folder, 'other');
        prepareHome(other, site.upstream.port, 'cache: { enabled: true }');
        const env = { SVC_DB: db, SVC_REDIS_URL: redis.url };
        const pair = [await site.start({ env }), await site.start({ env, home: other })];
        const traffic = startTraffic(pair.map(({ port }) => port));
        const untilMs = Date.now() + seconds * 1000;
        let turns = 0;
        for (; Date.now() < untilMs; turns += 1) {
          report(`turn ${turns + 1}: Redis and Postgres killed, ${traffic.ended.size} answered`);
          await pause(1000);
          await redis.kill();
          await pause(1000);
          await postgres.stop();
          await pause(1000);
          await redis.restart();
          await pause(1000);
          await postgres.start();
          redis.freeze();
          await pause(1000);
          redis.thaw();
        }
        await traffic.stop();
        const hasRecovered = await becomesTrue(async () => {
          const all = await Promise.all(pair.map((svc) => svc.health()));
          return all.every(({ status }) => status === 'ok');
        }, 120_000);
        const health = await pair[0]!.health();
        let dropped = 0;
        for (const svc of pair) {
          dropped += await svc.metric('svc_ledger_rows_dropped_total');
          await svc.end();
        }
        const ids = await postgres.ask<{ id: string }>(db, 'SELECT id FROM requests');
        const unique = new Set(ids.map(({ id }) => id));
        const missing = [...traffic.ended.keys()].filter((id) => !unique.has(id)).length;
        return [
          {
            name: 'Postgres and Redis killed in turn',
            required:
              'every request answered; every row stored once, or counted as dropped; both proxies ok afterwards',
            figure: `${turns} turns, two proxies: ${traffic.ended.size} answered, ${failuresText(traffic)}, the slowest in ${traffic.longestMs.toFixed(0)} ms; ${missing} rows missing, ${dropped} counted as dropped, ${ids.length - unique.size} twice; ${hasRecovered ? 'ok again' : `NOT ok again: ${health.reasons.join('; ')}`}`,
            met:
              traffic.failed.size === 0 &&
              missing <= dropped &&
              ids.length === unique.size &&
              hasRecovered,
          },
        ];
      },
      { more: 'cache: { enabled: true }' },
    );
  } finally {
    await redis.stop();
    await postgres.close();
  }
};

export const SERVERS: readonly Storm[] = [{ name: 'servers', run: servers }];
