/** `svc why`: the cost, cache miss, savings and failures of one request, each with its cause. */
import { Command, Option } from 'clipanion';
import { isSvcError } from '../../engine/error.ts';
import { localMoment } from '../../server/dashboard/page/local-time.ts';
import { MAX_SEARCHED, pickRow, shortId } from '../../server/facts/find-request.ts';
import { whyJson } from '../../server/facts/why.ts';
import { LedgerCommand } from '../ledger.ts';
import { OPTIONAL_MS, readOwn } from '../remote.ts';

class Why extends LedgerCommand {
  static override paths = [['why']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Why a request cost, missed, failed or saved what it did',
    details:
      'The newest request, or one by its id as `svc requests` shows it. While the proxy runs that served it, also which providers were tried and what compression left alone.',
    examples: [
      ['The newest request', '$0 why'],
      ['A request named in `svc status`', '$0 why TwLFV0'],
    ],
  });

  id = Option.String({ required: false, name: 'id' });

  async execute() {
    const { id } = this;
    const rows = await this.ledger((reader, queries) =>
      queries.newestRows(reader, { sinceMs: 0, ...(id !== undefined && { id }) }, MAX_SEARCHED),
    );
    const row = pickRow(rows, id);
    const { requestJson } = await import('../../stages/ledger/request-json.ts');
    const request = requestJson(row);
    const path = `/trace/${encodeURIComponent(row.id)}`;
    let isUnresponsive = false;
    const trace = await readOwn(this.home, path, OPTIONAL_MS).catch((thrown: unknown) => {
      isUnresponsive = isSvcError(thrown) && thrown.kind === 'bad_gateway';
      return undefined;
    });
    const answers = whyJson(request, trace);
    if (this.json) return this.printJson(answers);
    const model = request.model ?? 'unknown model';
    this.print(this.colors.bold(`${shortId(row.id)}: ${model}, ${localMoment(request.timestamp)}`));
    this.printPairs([
      ['outcome', answers.outcome],
      ['answered by', answers.providers.join('; ')],
      ['cost', answers.cost],
      [
        'prompt cache',
        answers.cache ?? (request.failed ? 'unknown, since there was no response' : 'no miss'),
      ],
      ['savings', answers.savings],
    ]);
    // A request rejected before its run has no trace.
    if (isUnresponsive)
      this.note('svc runs, but does not answer: what is shown is from the ledger.');
    else if (trace === undefined && request.provider !== null)
      this.note('The proxy that served it knows no more of it: what is shown is from the ledger.');
  }
}

export const commands = [Why];
