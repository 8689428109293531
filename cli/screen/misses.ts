/**
 * The cost of missed provider prompt caches, for `svc savings --misses` and `svc status
 * --tip-cache`.
 */
import type { MissReportJson } from '../../stages/ledger/miss-json.ts';
import { causeInWords } from '../../server/words/miss-words.ts';
import type { CliContext } from '../context.ts';
import { counted, dollars, figure, percent, print } from './output.ts';
import { printTable } from './table.ts';

/** Prints the whole report: a table by cause, then cures for the causes that cost something. */
export function printMisses(
  context: CliContext,
  report: MissReportJson,
  since: string | undefined,
): void {
  const span = since === undefined ? '' : ` since ${since}`;
  if (report.missed_requests === 0) {
    print(context, `No request has missed a provider’s prompt cache${span}.`);
    return;
  }
  const share =
    report.share_of_cost === null ? '' : `, ${percent(report.share_of_cost)} of the cost`;
  print(
    context,
    `Lost to missed prompt caches${span}: ${dollars(report.cost_missed_usd)}${share} of ${counted(report.requests, 'request')}`,
  );
  print(context);
  printTable(
    context,
    ['cause', '>requests', '>tokens missed', '>cost'],
    report.causes.map(({ cause, requests, missed_tokens: tokens, cost_missed_usd: cost }) => [
      causeInWords(cause),
      figure(requests),
      figure(tokens),
      dollars(cost),
    ]),
  );
  const helped = report.causes.filter(({ missed_tokens: tokens }) => tokens > 0);
  if (helped.length > 0) print(context);
  for (const { cause, advice } of helped) print(context, `${causeInWords(cause)}: ${advice}`);
}
