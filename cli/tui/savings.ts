/** What was saved and on what, what was added from the vault and what that cost. */
import type { ReportAnswer } from '../../server/dashboard/contract.ts';
import {
  dollars,
  orDash,
  percent,
  share,
  short,
  whole,
} from '../../server/dashboard/page/format.ts';
import type { Colors } from '../colors.ts';
import { grid } from './grid.ts';
import type { Column } from './grid.ts';
import type { Model } from './model.ts';

export function savingsView({ live, report }: Model, width: number, colors: Colors): string[] {
  if (live === undefined || report === undefined) return ['Loading…'];
  const { injections, totals } = report;
  return [
    ...bill(report, width, colors),
    '',
    ...lanes(report, width, colors),
    '',
    injections.requests === 0
      ? 'Nothing was added from the vault.'
      : `Added from the vault: ${whole(injections.chunks)} pieces in ${whole(injections.requests)} requests, ${short(totals.tokens_added)} tokens, ${dollars(totals.cost_added)}.`,
    ...classes(live.classes, width, colors),
    ...groups('Model', report.by_model, width, colors),
    ...groups('Agent', report.by_client, width, colors),
    ...groups('Provider', report.by_provider, width, colors),
  ];
}

function bill({ totals, lanes: kinds }: ReportAnswer, width: number, colors: Colors): string[] {
  const minus = (value: number | null) => dollars(value === null || value === 0 ? value : -value);
  const rows: readonly (readonly [string, string])[] = [
    ['Without svc I would have paid', dollars(totals.cost_without)],
    ['Saved by compression', minus(kinds.compression.cost_saved_usd)],
    ['Saved by cache breakpoints of svc', minus(kinds.cache_breakpoints.cost_saved_usd)],
    ['Saved by answers that were kept', minus(kinds.response_cache.cost_saved_usd)],
    ['Added from the vault', dollars(totals.cost_added)],
    ['I paid', dollars(totals.cost)],
  ];
  return [
    ...grid<(typeof rows)[number]>(
      [
        { head: 'The bill', rank: 0, least: 12, text: ([name]) => name },
        { head: '', isRight: true, rank: 1, text: ([, value]) => value },
      ],
      rows,
      width,
      colors,
    ),
    ...(totals.unpriced > 0
      ? [`${whole(totals.unpriced)} requests are of models without a known price and not in here.`]
      : []),
  ];
}

function lanes({ lanes: all }: ReportAnswer, width: number, colors: Colors): string[] {
  const { compression, cache_breakpoints: marked, response_cache: kept, provider_cache: own } = all;
  const rows: readonly (readonly [string, string, string])[] = [
    ['Our compression', short(compression.tokens_saved), dollars(compression.cost_saved_usd)],
    ['Cache breakpoints of svc', short(marked.read_tokens), dollars(marked.cost_saved_usd)],
    ['Our response cache', `${whole(kept.requests)} answers`, dollars(kept.cost_saved_usd)],
    ['The provider’s own cache', short(own.read_tokens), 'not ours'],
  ];
  return grid<(typeof rows)[number]>(
    [
      { head: 'What spared tokens', rank: 0, least: 12, text: ([name]) => name },
      { head: 'Tokens', isRight: true, rank: 2, text: ([, tokens]) => tokens },
      { head: 'Worth', isRight: true, rank: 1, text: ([, , worth]) => worth },
    ],
    rows,
    width,
    colors,
  );
}

type Classes = NonNullable<Model['live']>['classes'];

function classes(all: Classes, width: number, colors: Colors): string[] {
  if (all.length === 0) return [];
  return [
    '',
    ...grid<Classes[number]>(
      [
        { head: 'Class of text, since the start', rank: 0, least: 10, text: (one) => one.class },
        { head: 'Raw', isRight: true, rank: 3, text: (one) => short(one.tokens_before) },
        { head: 'Sent', isRight: true, rank: 2, text: (one) => short(one.tokens_after) },
        {
          head: 'Share saved',
          isRight: true,
          rank: 1,
          text: ({ tokens_before: before, tokens_after: after }) =>
            share(before === 0 ? null : (before - after) / before),
        },
      ],
      all,
      width,
      colors,
    ),
  ];
}

type Group = ReportAnswer['by_model'][number];

function groups(head: string, all: readonly Group[], width: number, colors: Colors): string[] {
  if (all.length === 0) return [];
  const right = (name: string, rank: number, text: (group: Group) => string): Column<Group> => ({
    head: name,
    isRight: true,
    rank,
    text,
  });
  return [
    '',
    ...grid<Group>(
      [
        { head, rank: 0, least: 12, text: ({ name }) => orDash(name) },
        right('Requests', 4, (group) => whole(group.requests)),
        right('In', 6, (group) => short(group.input_tokens)),
        right('Sent', 7, (group) => short(group.sent_input_tokens)),
        right('Saved', 2, (group) => short(group.saved_tokens)),
        right('Share', 5, (group) => percent(group.saved_percent)),
        right('Cache read', 9, (group) => short(group.provider_cache_read_tokens)),
        right('Paid', 3, (group) => dollars(group.cost)),
        right('Without svc', 8, (group) => dollars(group.cost_without)),
        right('Net saving', 1, (group) => dollars(group.net_cost_saved)),
      ],
      all,
      width,
      colors,
    ),
  ];
}
