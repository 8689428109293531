/** `svc why`: what one request cost, missed, saved and ran into, each with its cause. */
import { Command, Option } from 'clipanion';
import { localMoment } from '../../server/dashboard/page/local-time.ts';
import { missInWords } from '../../server/dashboard/page/miss-words.ts';
import type { RequestJson } from '../../stages/ledger/request-json.ts';
import { LedgerCommand } from '../ledger.ts';
import { readOwn } from '../remote.ts';
import type { Json } from '../remote.ts';
import { pickRow, shortId } from '../request-id.ts';
import { counted, dollars, figure, percent } from '../screen/output.ts';

/** Requests among which one is looked for. */
const NEWEST = 100;

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
      queries.newestRows(reader, { sinceMs: 0, ...(id !== undefined && { id }) }, NEWEST),
    );
    const row = pickRow(rows, id);
    const { requestJson } = await import('../../stages/ledger/request-json.ts');
    const request = requestJson(row);
    const path = `/trace/${encodeURIComponent(row.id)}`;
    const trace = await readOwn(this.home, path).catch(() => undefined);
    const answers = {
      outcome: outcomeOf(request, trace),
      providers: triedOf(request, trace),
      cost: costOf(request, trace),
      cache: request.cache_miss === undefined ? null : missInWords(request.cache_miss),
      savings: savingsOf(request, trace),
    };
    if (this.json) return this.printJson({ request_id: row.id, ...answers });
    const model = request.model ?? 'unknown model';
    this.print(this.colors.bold(`${shortId(row.id)}: ${model}, ${localMoment(request.timestamp)}`));
    this.printPairs([
      ['outcome', answers.outcome],
      ['answered by', answers.providers.join('; ')],
      ['cost', answers.cost],
      ['prompt cache', answers.cache ?? 'no miss'],
      ['savings', answers.savings],
    ]);
    if (trace === undefined)
      this.note('The proxy that served it knows no more of it: what is shown is from the ledger.');
  }
}

/** How it ended. */
function outcomeOf(request: RequestJson, trace: Json | undefined): string {
  const { outcome, status_code: status, error_code: code, latency_ms: ms } = request;
  const took = ms === null ? '' : `, ${figure(Math.round(ms))} ms`;
  if (outcome === 'ok') return `answered (${status ?? '–'})${took}`;
  if (outcome === 'cancelled') return `the client left${took}`;
  const error = typeof trace?.['error'] === 'string' ? trace['error'] : code;
  const what = outcome === 'partial' ? 'broke off' : `failed (${status ?? 'no answer'})`;
  return `${what}${took}${error === null ? '' : `: ${error}`}`;
}

/** Who was asked in turn, each with what happened there. */
function triedOf(request: RequestJson, trace: Json | undefined): string[] {
  const attempts = Array.isArray(trace?.['attempts']) ? (trace['attempts'] as Json[]) : [];
  if (attempts.length > 0)
    return attempts.map(({ provider, status, failure }) => {
      const what =
        typeof failure === 'string'
          ? failure
          : `status ${typeof status === 'number' ? status : '–'}`;
      return `${String(provider)}: ${what}`;
    });
  if (request.response_cache_hit) return ['the response cache: no provider was asked'];
  if (request.provider === null) return ['no provider'];
  const before =
    request.attempts > 1
      ? `, after ${counted(request.attempts - 1, 'other try', 'other tries')}`
      : '';
  return [`${request.provider}${before}`];
}

/** What was paid, and what for. */
function costOf(request: RequestJson, trace: Json | undefined): string {
  const {
    cost,
    sent_input_tokens: sent,
    output_tokens: output,
    provider_cache_read_tokens: read,
    provider_cache_creation_tokens: written,
  } = request;
  const parts = [
    sent === null ? [] : [`${figure(sent)} input tokens`],
    read === null || read === 0 ? [] : [`${figure(read)} of them from the prompt cache`],
    written === null || written === 0 ? [] : [`${figure(written)} written to it`],
    output === null ? [] : [`${figure(output)} output tokens`],
  ].flat();
  const unpriced = Array.isArray(trace?.['unpriced']) ? (trace['unpriced'] as string[]) : [];
  const unknown = unpriced.length > 0 ? `no price for ${unpriced.join(', ')}` : 'not known';
  const amount = cost === null ? unknown : dollars(cost);
  return parts.length === 0 ? amount : `${amount}: ${parts.join(', ')}`;
}

/** What compression did, or why it did nothing. */
function savingsOf(request: RequestJson, trace: Json | undefined): string {
  const { tokens_saved: saved, input_tokens: input, cost_saved: worth } = request;
  if (saved !== null && saved > 0) {
    const share = input === null || input === 0 ? '' : ` (${percent(saved / input)})`;
    return `${figure(saved)} input tokens${share}, worth ${dollars(worth)}`;
  }
  const stages = Array.isArray(trace?.['stages']) ? (trace['stages'] as Json[]) : [];
  const because = stages.flatMap(({ not_compressed_because: why }) =>
    typeof why === 'string' ? [why] : [],
  );
  return because.length === 0 ? 'nothing' : `nothing: ${because.join('; ')}`;
}

export const commands = [Why];
