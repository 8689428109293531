/**
 * How much an answer can be: what the request allows, by the name of any dialect, or else what the
 * model writes at most. Limits foresee this much, since nothing stops a model from using it up.
 */
import { isObject } from '../dialect/json-kind.ts';
import { factsOf } from '../model/model-facts.ts';

/** What requests call the limit; a provider of one dialect may understand another's name as well. */
export const LIMIT_NAMES = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
] as const;
/** How many answers are asked for at once: each may be as long as the limit. */
export const CHOICES_NAMES = ['n', 'best_of', 'candidateCount', 'candidate_count'] as const;

/** What a request says of the length of its answer. */
export interface AskedOutput {
  /** Undefined where it sets no limit, or one that is none. */
  readonly limit: number | undefined;
  /** How many answers; 1 by default. */
  readonly choices: number;
}

/** The limit and the choices among `values`, of which the largest counts where there are several. */
export function toAskedOutput(
  limits: readonly unknown[],
  choices: readonly unknown[],
): AskedOutput {
  // Zero and less mean "as much as you like" to some servers.
  const given = limits.filter(
    (value): value is number => Number.isFinite(value) && Number(value) >= 1,
  );
  const counts = choices.filter((value): value is number => Number.isFinite(value));
  return {
    limit: given.length === 0 ? undefined : Math.ceil(Math.max(...given)),
    choices: Math.max(1, ...counts.map(Math.ceil)),
  };
}

/** The same of a body of any dialect. */
export function askedOutput(json: unknown): AskedOutput {
  if (!isObject(json)) return toAskedOutput([], []);
  const inner = [json, json['generationConfig'], json['generation_config']].filter(isObject);
  const of = (names: readonly string[]) => inner.flatMap((each) => names.map((name) => each[name]));
  return toAskedOutput(of(LIMIT_NAMES), of(CHOICES_NAMES));
}

/** Output tokens of all answers together, at most. */
export function foreseenOutput({ limit, choices }: AskedOutput, model: string | undefined): number {
  return (limit ?? factsOf(model).mostOutputTokens) * choices;
}
