/**
 * Shows a certificate on the screen: first the verdict, then five lines, then the places where it
 * fails.
 */
import { MAX_OVERCLAIMED } from '../../server/certify/certify.ts';
import type { Certificate, CheckResult } from '../../server/certify/certify.ts';
import { createRedactor } from '../../server/log/redact.ts';
import { visible } from '../../server/log/visible.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { CliContext } from '../context.ts';
import { noteFailed } from '../estimate/sessions.ts';
import { colorsFor, counted, dollars, figure, percent, print } from '../screen/output.ts';
import { printTable } from '../screen/table.ts';

/** Failures listed one by one; `--json` has all. */
const MAX_SHOWN = 20;
const LINE_CHARS = 74;

/** Title of each promise. */
export const TITLES: Readonly<Record<CheckResult['name'], string>> = {
  retention: 'Retention',
  prefix: 'Prefix',
  cost: 'Cost',
  failures: 'Failures',
  honesty: 'Honesty',
};

/** Returns each promise with its figures, in a few words. */
export function figuresOf(certificate: Certificate): Readonly<Record<CheckResult['name'], string>> {
  const { counts, broken, costs, dearer, sessions, unpriced } = certificate;
  const countFailures = (name: string): number =>
    broken.filter(({ check }) => check === name).length;
  const all = costs.filter(({ from }) => from === null);
  const worst = all.length === 0 ? null : Math.max(...all.map((one) => one.worst));
  const sum = (name: 'costNanoUsd' | 'sentNanoUsd') =>
    all.reduce((total, one) => total + one[name], 0);
  const { claimedTokens: claimed, recountedTokens: recounted } = counts;
  return {
    retention: `${figure(counts.quoted - countFailures('retention'))} of ${figure(counts.quoted)} lines that were quoted later can be read`,
    prefix: `${counted(counts.turns, 'turn')}, ${figure(counts.fromNothing)} as after a restart: ${figure(countFailures('prefix'))} changed; ${counted(counts.thoughts, 'thought')}`,
    cost: `${figure(dearer.length)} of ${figure(sessions - unpriced)} priced sessions cost more, worst ${worst === null ? '–' : worst.toFixed(3)}; ${dollars(toUsd(sum('costNanoUsd')))} → ${dollars(toUsd(sum('sentNanoUsd')))}`,
    failures: `${figure(counts.failureLines - countFailures('failures'))} of ${figure(counts.failureLines)} lines that say what failed kept`,
    honesty: `${figure(claimed)} tokens claimed, ${figure(recounted)} by recount${recounted > 0 ? ` (${percent(claimed / recounted)})` : ''}`,
  };
}

/**
 * Returns a line at which a promise is broken, safe to print: without secrets and control
 * characters.
 */
export function shownLine(line: string): string {
  const text = visible(createRedactor().text(line));
  return text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS)}…` : text;
}

export function printCertificate(
  context: CliContext,
  certificate: Certificate,
  what: string,
): void {
  const colors = colorsFor(context.stdout, context.env);
  noteFailed(context, certificate.failed);
  const { holds, checks, costs, broken, dearer } = certificate;
  const missed = checks.filter((one) => !one.holds).length;
  print(
    context,
    holds
      ? colors.green(`The certificate holds: ${what}`)
      : colors.red(`The certificate does not hold, ${missed} of 5: ${what}`),
  );
  print(context);
  const figures = figuresOf(certificate);
  for (const { name, holds: isKept } of checks) {
    const sign = isKept ? colors.green('✓') : colors.red('✗');
    const text = `${TITLES[name].padEnd(9)}  ${figures[name]}`;
    print(context, `${sign} ${isKept ? text : colors.red(text)}`);
  }
  if (costs.length > 0) {
    print(context);
    const header = ['sessions of', '>requests', '>n', '>median', '>95 %', '>worst'];
    printTable(
      context,
      header,
      costs.map(({ client, from, to, sessions, share, worst }) => [
        from === null ? client : '',
        from === null ? 'any' : to === null ? `${from}+` : `${from}–${to}`,
        figure(sessions),
        share.median.toFixed(3),
        `${share.from.toFixed(3)} to ${share.to.toFixed(3)}`,
        worst.toFixed(3),
      ]),
    );
  }
  if (broken.length + dearer.length > 0) print(context);
  for (const { check, session, turn, block, line } of broken.slice(0, MAX_SHOWN)) {
    print(
      context,
      colors.red(`${TITLES[check]}: session ${visible(session)}, turn ${turn}, block ${block}`),
    );
    print(context, `    ${shownLine(line)}`);
  }
  if (broken.length > MAX_SHOWN)
    print(context, `and ${figure(broken.length - MAX_SHOWN)} more: --json has all of them`);
  for (const { session, share } of dearer.slice(0, MAX_SHOWN))
    print(context, colors.red(`Cost: session ${visible(session)}: ${share.toFixed(4)}`));
  print(context);
  for (const line of notesOf(certificate)) print(context, `${colors.dim('–')} ${line}`);
}

/** Explains the figures, and what they leave out. */
export function notesOf(certificate: Certificate): string[] {
  const { isForeign, simulated, unpriced, left, unreadLines } = certificate;
  return [
    isForeign
      ? 'Nothing was sent: the bodies of another tool, judged as those of svc are.'
      : 'Nothing was sent: compressed as a proxy here would do it, and decoded again.',
    'Cost: what is left of the input cost, at each model’s own rates.',
    `A claim may be ${percent(MAX_OVERCLAIMED)} above a public tokenizer’s recount.`,
    ...(simulated > 0
      ? [`${counted(simulated, 'session')} without counts: cost in a simulated cache.`]
      : []),
    ...(unpriced > 0
      ? [`${counted(unpriced, 'session')} without counts or price: in no cost.`]
      : []),
    ...(left > 0 ? [`${counted(left, 'older file')} not read: the time was up (--seconds).`] : []),
    ...(unreadLines > 0 ? [`${counted(unreadLines, 'line')} skipped: not JSON, or too long.`] : []),
  ];
}

export function certificateJson(certificate: Certificate, isDemo: boolean) {
  const { holds, checks, sessions, conversations, counts, costs, broken, dearer } = certificate;
  const figures = figuresOf(certificate);
  return {
    holds,
    is_demo: isDemo,
    is_foreign: certificate.isForeign,
    checks: checks.map(({ name, holds: isKept }) => ({
      name,
      holds: isKept,
      figures: figures[name],
    })),
    sessions,
    conversations,
    files: certificate.files,
    files_failed: certificate.failed,
    files_left: certificate.left,
    lines_unread: certificate.unreadLines,
    sessions_simulated: certificate.simulated,
    sessions_unpriced: certificate.unpriced,
    turns: counts.turns,
    turns_from_nothing: counts.fromNothing,
    cold_moments: counts.cold,
    thoughts_signed: counts.thoughts,
    blocks_changed: counts.changedBlocks,
    lines_quoted: counts.quoted,
    failure_lines: counts.failureLines,
    tokens_claimed: counts.claimedTokens,
    tokens_recounted: counts.recountedTokens,
    costs: costs.map(
      ({ client, from, to, sessions: n, costNanoUsd, sentNanoUsd, share, worst }) => ({
        client,
        requests_from: from,
        requests_to: to,
        sessions: n,
        input_cost_usd: toUsd(costNanoUsd),
        sent_input_cost_usd: toUsd(sentNanoUsd),
        share_median: share.median,
        share_median_from: share.from,
        share_median_to: share.to,
        share_worst: worst,
      }),
    ),
    sessions_dearer: dearer,
    broken: broken.map((one) => ({ ...one, line: createRedactor().text(one.line) })),
  };
}
