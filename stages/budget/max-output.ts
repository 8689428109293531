/**
 * The maximum length of an answer: the limit of the request, by its name in any dialect, or else
 * the model's maximum. Limits reserve this much, since nothing prevents a model from using it.
 */
import { isObject } from '../dialect/json-kind.ts';
import { factsOf } from '../model/model-facts.ts';

/**
 * The names of the limit in requests; a provider of one dialect may accept another's name as well.
 */
export const LIMIT_NAMES = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
] as const;
/** How many answers are requested at once: each may be as long as the limit. */
export const CHOICES_NAMES = ['n', 'best_of', 'candidateCount', 'candidate_count'] as const;

/** The length of the answer that a request asks for. */
export interface AskedOutput {
  /** Undefined if it sets no limit, or an invalid one. */
  readonly limit: number | undefined;
  /** The number of answers; 1 by default. */
  readonly choices: number;
}

/** Returns the limit and the number of choices; of several values the largest counts. */
export function toAskedOutput(
  limits: readonly unknown[],
  choices: readonly unknown[],
): AskedOutput {
  // Zero and less mean "unlimited" to some servers.
  const given = limits.filter(
    (value): value is number => Number.isFinite(value) && Number(value) >= 1,
  );
  const counts = choices.filter((value): value is number => Number.isFinite(value));
  return {
    limit: given.length === 0 ? undefined : Math.ceil(Math.max(...given)),
    choices: Math.max(1, ...counts.map(Math.ceil)),
  };
}

/** Returns the same for a body of any dialect. */
export function askedOutput(json: unknown): AskedOutput {
  if (!isObject(json)) return toAskedOutput([], []);
  const inner = [json, json['generationConfig'], json['generation_config']].filter(isObject);
  const of = (names: readonly string[]) => inner.flatMap((each) => names.map((name) => each[name]));
  return toAskedOutput(of(LIMIT_NAMES), of(CHOICES_NAMES));
}

/** Returns the maximum output tokens of all answers together. */
export function foreseenOutput({ limit, choices }: AskedOutput, model: string | undefined): number {
  return (limit ?? factsOf(model).maxOutputTokens) * choices;
}
