/** Shows an estimate over session files as tables, with its limitations, and as JSON. */
import type { EstimateSettings } from '../../server/estimate/conversation.ts';
import type { EstimateReport } from '../../server/estimate/estimate.ts';
import type { SessionGroup } from '../../server/estimate/sums.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { CliContext } from '../context.ts';
import { colorsFor, counted, dollars, figure, percent, print } from '../screen/output.ts';
import { printTable } from '../screen/table.ts';
import { noteFailed } from './sessions.ts';

const HEADER = [
  'sessions of',
  '>requests each',
  '>n',
  '>requests',
  '>input tokens',
  '>saved',
  '>',
  '>input cost',
  '>saved',
  '>median',
  '>range',
];

export async function printEstimate(
  context: CliContext,
  report: EstimateReport,
  options: EstimateSettings,
): Promise<void> {
  const colors = colorsFor(context.stdout, context.env);
  noteFailed(context, report.failed);
  print(context, colors.bold('What svc would have saved of the input on these sessions'));
  print(context);
  printTable(context, HEADER, report.groups.map(row));
  print(context);
  for (const line of [...knownOf(report, options), ...notKnown(report, options)])
    print(context, `${colors.dim('–')} ${line}`);
}

function row(group: SessionGroup): string[] {
  const { client, length, sessions, share } = group;
  const isPriced = group.requests - group.uncounted > group.unpriced;
  const usd = (nano: number): string => dollars(isPriced ? toUsd(nano) : null);
  return [
    length === null ? client : '',
    length === null ? 'any' : lengthText(length),
    figure(sessions),
    figure(group.requests),
    figure(group.inputTokens),
    figure(group.savedTokens),
    percent(shareOf(group.savedTokens, group.inputTokens)),
    usd(group.costNanoUsd),
    usd(group.costSavedNanoUsd),
    percent(share?.median),
    share === null ? '–' : `${percent(share.lowest)} to ${percent(share.highest)}`,
  ];
}

function lengthText({ from, to }: { readonly from: number; readonly to: number | null }): string {
  return to === null ? `${from}+` : `${from}–${to}`;
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function knownOf(
  { files, left, unreadLines, groups }: EstimateReport,
  { mode, tools = 'off', coldTrimMs = null }: EstimateSettings,
): string[] {
  const all = groups.filter(({ length }) => length === null);
  const sum = (name: 'coldMoments' | 'boundMoments' | 'forgotten' | 'askedAgain') =>
    all.reduce((total, group) => total + group[name], 0);
  return [
    `${counted(files, 'file')} read, compressed as a proxy would in mode ${mode}; nothing was sent and nothing written. Median and range are of the share of its input cost that a session saves.`,
    'Input tokens are what providers counted, with system prompt and tools, and so is what was read from their caches or written to them; a saving counts at the price of its place. Saved tokens are counted by a public tokenizer.',
    ...(tools === 'trim'
      ? ['Tool definitions, if a file contains them, count as compression.tools: trim sends them.']
      : []),
    ...(coldTrimMs === null
      ? []
      : [
          `compression.cold_trim left out ${counted(sum('forgotten'), 'old result')} at ${counted(sum('coldMoments'), 'pause')}; ${figure(sum('askedAgain'))} of them the session asked for again later. What else a model would have asked for is not known.`,
          ...(sum('boundMoments') === 0
            ? []
            : [
                `At ${counted(sum('boundMoments'), 'pause')} it left out nothing: newer models sign their thinking together with the old results.`,
              ]),
        ]),
    ...(left > 0
      ? [`${counted(left, 'older file')} not read: the time was up (--seconds allows more).`]
      : []),
    ...(unreadLines > 0 ? [`${counted(unreadLines, 'line')} skipped: not JSON, or too long.`] : []),
  ];
}

/** Describes what the files do not contain, or an estimate cannot cover. */
function notKnown(
  { groups, conversations, whole }: EstimateReport,
  { coldTrimMs = null }: EstimateSettings,
): string[] {
  const all = groups.filter(({ length }) => length === null);
  const sum = (name: 'uncounted' | 'unpriced') =>
    all.reduce((total, group) => total + group[name], 0);
  const [uncounted, unpriced] = [sum('uncounted'), sum('unpriced')];
  return [
    ...(whole < conversations
      ? [
          `${figure(conversations - whole)} of ${counted(conversations, 'conversation')} hold no system prompt or no tools; the threshold counts without them, so their first results may be left out here.`,
        ]
      : []),
    ...(uncounted > 0
      ? [`${counted(uncounted, 'request')} without a provider's count are in no other figure.`]
      : []),
    ...(unpriced > 0
      ? [`${counted(unpriced, 'request')} of models without a known price are in no cost.`]
      : []),
    `Output is not counted: svc does not change it. Nor are cache breakpoints, ${coldTrimMs === null ? 'forgetting (compression.cold_trim is off), ' : ''}the response cache and what a vault adds.`,
    'Not known: what went through svc already, and what was paid by subscription, whose requests go through unchanged unless compression.subscription_traffic is on.',
  ];
}

export function estimateJson(
  report: EstimateReport,
  { mode, tools = 'off', longResultsTokens = 0, coldTrimMs = null }: EstimateSettings,
) {
  const { groups, failed, files, left, unreadLines, conversations, whole } = report;
  return {
    mode,
    tools,
    long_results_tokens: longResultsTokens,
    cold_trim_seconds: coldTrimMs === null ? null : coldTrimMs / 1000,
    files,
    files_failed: failed,
    files_left: left,
    lines_unread: unreadLines,
    conversations,
    conversations_with_system_and_tools: whole,
    groups: groups.map((group) => ({
      client: group.client,
      requests_from: group.length?.from ?? null,
      requests_to: group.length?.to ?? null,
      sessions: group.sessions,
      requests: group.requests,
      requests_uncounted: group.uncounted,
      requests_unpriced: group.unpriced,
      input_tokens: group.inputTokens,
      saved_tokens: group.savedTokens,
      input_cost_usd: toUsd(group.costNanoUsd),
      saved_usd: toUsd(group.costSavedNanoUsd),
      saved_share: group.share,
      cold_moments: group.coldMoments,
      bound_moments: group.boundMoments,
      results_left_out: group.forgotten,
      results_asked_for_again: group.askedAgain,
    })),
  };
}
