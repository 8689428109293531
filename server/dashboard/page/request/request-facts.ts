/** Texts about one request, shared by both dashboards. */
import type { RequestJson, Trace } from '../../contract.ts';
import type { Tone } from '../../../words/problems.ts';
import { counted } from '../../../words/counted.ts';
import { missInWords } from '../../../words/miss-words.ts';
import { NONE, dollars, duration, orDash, percent, short, wholeNumber } from '../format.ts';

/** Returns the model that answered; the requested one if none did. */
export function answeringModelOf({
  model_requested: requested,
  model_resolved: resolved,
}: RequestJson) {
  return orDash(resolved ?? requested);
}

/**
 * Returns the answering model, then the requested one if it differs, so that a narrow column cuts
 * the latter.
 */
export function modelOf(row: RequestJson): string {
  const { model_requested: requested, model_resolved: resolved } = row;
  const answering = answeringModelOf(row);
  return requested === null || resolved === null || requested === resolved
    ? answering
    : `${answering} for ${requested}`;
}

/** Returns text such as `ok`, `error 502` or `cancelled`. */
export function outcomeOf(row: RequestJson): string {
  const { outcome, status_code: status, failed, response_cache_hit: isHit } = row;
  const word = failed && outcome === 'ok' ? 'error' : outcome;
  return `${word}${failed && status !== null ? ` ${status}` : ''}${isHit ? ', cached response' : ''}`;
}

export function outcomeTone({ outcome, failed }: RequestJson): Tone {
  return failed ? 'bad' : outcome === 'ok' ? 'good' : 'warn';
}

type Fact = readonly [name: string, value: string];

export function requestFacts(row: RequestJson): readonly Fact[] {
  const { input_tokens: raw, tokens_saved: saved } = row;
  const { provider_cache_read_tokens: read, provider_cache_creation_tokens: written } = row;
  const part = raw === null || raw === 0 || saved === null ? null : (100 * saved) / raw;
  return [
    [
      'Input',
      joinKnown(
        [raw, `${wholeNumber(raw)} tokens`],
        [row.sent_input_tokens, `${wholeNumber(row.sent_input_tokens)} sent`],
        [saved, `${wholeNumber(saved)} saved (${percent(part)})`],
      ),
    ],
    [
      'Output',
      joinKnown([
        row.output_tokens,
        `${wholeNumber(row.output_tokens)} tokens${row.usage_estimated ? ', estimated' : ''}`,
      ]),
    ],
    [
      'Paid',
      joinKnown(
        [row.cost, dollars(row.cost)],
        [row.cost_without, `${dollars(row.cost_without)} without svc`],
      ),
    ],
    [
      'Provider’s prompt cache',
      joinKnown([read, `${short(read)} read`], [written, `${short(written)} written`]),
    ],
    ...(row.cache_miss === undefined
      ? []
      : [['Cache missed', missInWords(row.cache_miss)] as const]),
    [
      'Time taken',
      joinKnown(
        [row.latency_ms, duration(row.latency_ms)],
        [row.ttfb_ms, `first byte after ${duration(row.ttfb_ms)}`],
      ),
    ],
    ['Provider', `${orDash(row.provider)}${row.attempts > 1 ? `, ${row.attempts} attempts` : ''}`],
    ['Agent', `${orDash(row.client)}${row.mode === null ? '' : `, mode ${row.mode}`}`],
  ];
}

type Part = readonly [figure: number | null, words: string];

/** Joins the words of the measured figures; a single dash if there are none. */
function joinKnown(...parts: readonly Part[]): string {
  const words = parts.filter(([figure]) => figure !== null).map(([, text]) => text);
  return words.length === 0 ? NONE : words.join(', ');
}

/** Returns what the vault added to the request, in words. */
export function injectionWords(injection: NonNullable<RequestJson['vault_injection']>): string {
  return `${counted(injection.chunks_injected, 'piece')}, ${wholeNumber(injection.tokens_added)} tokens, ${dollars(injection.cost_added)}`;
}

/**
 * Returns the messages with which providers refused the request: `reason`, if the client got it as
 * its answer, and those of the `other` attempts. A client may get the answer of an earlier attempt
 * than the last.
 */
export function providerMessages({ status, error, provider, attempts }: Trace) {
  // An error of svc's own replaces the provider's.
  const shown =
    error !== null || (status ?? 0) < 400
      ? undefined
      : attempts.findLast((one) => one.provider === provider && one.status === status);
  const toText = (attempt: Trace['attempts'][number]): readonly string[] =>
    attempt.words === undefined
      ? []
      : [`${attempt.provider} answered ${attempt.status ?? NONE}: ${orDash(attempt.words)}`];
  return {
    reason: shown && toText(shown)[0],
    other: attempts.filter((attempt) => attempt !== shown).flatMap(toText),
  };
}

/** Shown in place of stages that are no longer kept. */
export const NO_STAGES =
  'Its stages are no longer kept: only those of the newest 200 requests are.';
