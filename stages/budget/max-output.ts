/**
 * The maximum length of an answer: the limit in the request, under its name in any dialect, or else
 * the maximum of the model. Reservations cover this much, since nothing prevents a model from using
 * it.
 */
import { isObject } from '../dialect/json-kind.ts';
import { factsOf } from '../model/model-facts.ts';

/**
 * The names of the limit in requests; a provider of one dialect may also accept the name of
 * another.
 */
export const LIMIT_NAMES = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'maxOutputTokens',
] as const;
/** The number of answers requested at once, each of which may reach the limit. */
export const CHOICES_NAMES = ['n', 'best_of', 'candidateCount', 'candidate_count'] as const;

/** The length of the answer that a request allows. */
export interface RequestedOutput {
  /** Undefined if it sets no limit, or an invalid one. */
  readonly limit: number | undefined;
  /** The number of answers; 1 by default. */
  readonly choices: number;
}

/** Returns the limit and the number of choices; of several values the largest is used. */
export function toRequestedOutput(
  limits: readonly unknown[],
  choices: readonly unknown[],
): RequestedOutput {
  // Some servers take zero and less to mean "unlimited".
  const given = limits.filter(
    (value): value is number => Number.isFinite(value) && Number(value) >= 1,
  );
  const counts = choices.filter((value): value is number => Number.isFinite(value));
  return {
    limit: given.length === 0 ? undefined : Math.ceil(Math.max(...given)),
    choices: Math.max(1, ...counts.map(Math.ceil)),
  };
}

/** Returns the limit and the number of choices in a body of any dialect. */
export function requestedOutput(json: unknown): RequestedOutput {
  if (!isObject(json)) return toRequestedOutput([], []);
  const inner = [json, json['generationConfig'], json['generation_config']].filter(isObject);
  const valuesOf = (names: readonly string[]) =>
    inner.flatMap((each) => names.map((name) => each[name]));
  return toRequestedOutput(valuesOf(LIMIT_NAMES), valuesOf(CHOICES_NAMES));
}

/** Returns the maximum output tokens of all answers together. */
export function maxOutputTokens(
  { limit, choices }: RequestedOutput,
  model: string | undefined,
): number {
  return (limit ?? factsOf(model).maxOutputTokens) * choices;
}
