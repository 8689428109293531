/** Providers: condition, circuit breaker, keys with their cooldowns, and what went to each. */
import { conditionOf } from '../../server/dashboard/page/conditions.ts';
import {
  dollars,
  duration,
  share,
  short,
  spanOf,
  whole,
} from '../../server/dashboard/page/format.ts';
import type { Colors } from '../colors.ts';
import { facts, grid, inert } from './grid.ts';
import type { Model } from './model.ts';

export function providersView({ live, report }: Model, width: number, colors: Colors): string[] {
  if (live === undefined) return ['Loading…'];
  return Object.entries(live.providers).flatMap(([name, provider]) => {
    const { breaker, health, keys, stopped } = provider;
    const [word, kind] = conditionOf(provider);
    const paint = { ok: colors.green, warn: colors.yellow, bad: colors.red }[kind];
    const sums = report?.by_provider.find((group) => group.name === name);
    const recovers = health.recovers_in_s;
    return [
      `${colors.bold(inert(name))}  ${paint(word)}`,
      ...facts(
        [
          [
            '  Requests',
            sums === undefined
              ? 'none in this range of time'
              : `${short(sums.requests)}, ${share(sums.errors / sums.requests)} failed, ${dollars(sums.cost)} paid, ${duration(sums.avg_latency_ms)} on average`,
          ],
          [
            '  Breaker',
            `${breaker.state}, ${whole(breaker.failures)} of ${whole(breaker.requests)} failed in a minute`,
          ],
          [
            '  Health',
            `${health.state}${health.reason === null ? '' : `: ${health.reason}`}${recovers !== null && recovers > 0 ? `, tried again in ${spanOf(recovers)}` : ''}`,
          ],
          ...(stopped === null ? [] : [['  Stopped', stopped] as const]),
          ...(keys.length > 0
            ? []
            : [
                [
                  '  Keys',
                  provider.needs_key ? 'none of its own: the client’s key is used' : 'needs none',
                ] as const,
              ]),
        ],
        colors,
      ),
      ...(keys.length === 0
        ? []
        : grid<(typeof keys)[number]>(
            [
              { head: 'Key', rank: 0, least: 8, text: ({ label }) => label },
              {
                head: 'State',
                rank: 1,
                text: (key) =>
                  `${key.state}${key.wait_s > 0 ? `, ${spanOf(Math.ceil(key.wait_s))} left` : ''}`,
                paint: (key) => (key.wait_s > 0 ? colors.yellow : (text) => text),
              },
              { head: 'Used', isRight: true, rank: 2, text: ({ picked }) => whole(picked) },
              { head: 'Limited', isRight: true, rank: 3, text: ({ limited }) => whole(limited) },
              { head: 'Refused', isRight: true, rank: 4, text: ({ refused }) => whole(refused) },
            ],
            keys,
            width - 2,
            colors,
          ).map((line) => `  ${line}`)),
      '',
    ];
  });
}
