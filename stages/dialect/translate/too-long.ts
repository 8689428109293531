/**
 * The error "the conversation is longer than the model's window", in the wording of every provider.
 * Clients make room when they see it, and each recognises only its own provider's words: Claude
 * Code looks for "prompt is too long", Codex and opencode for a code, others for Gemini's sentence.
 */
import type { CanonicalError, CanonicalErrorKind, TranslatableDialect } from '../canonical.ts';

/** Its length and the limit, in tokens, if the provider reports both. */
interface Figures {
  readonly used: number;
  readonly limit: number;
}

const CODES = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'model_context_window_exceeded',
  'model_max_prompt_tokens_exceeded',
  'exceed_context_size_error',
]);

/** Common phrases in the messages of providers and servers, from their own manuals and reports. */
const PHRASES = [
  /prompt (?:is )?too long/i,
  /max(?:imum)? context (?:length|window|size)/i,
  /exceed(?:s|ed)?\b.{0,60}\bcontext (?:length|window|size|limit)/i,
  /(?:longer|greater|larger) than (?:the )?(?:model's )?context (?:length|window|size)/i,
  /context (?:length|window|size)(?: limit)? (?:is |was |has been )?exceed/i,
  /token count.{0,40}\bexceeds the (?:maximum|limit)/i,
  /input tokens exceed/i,
  /exceeds the maximum (?:allowed )?input length/i,
  /maximum prompt length/i,
  /input is too long for/i,
  /exceeded model token limit/i,
  /more than max tokens allowed/i,
  /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
  /range of input length should be/i,
];

/**
 * The only error kinds it can have: never one about the account or the rate, whatever it says about
 * tokens.
 */
const ABOUT_REQUESTS: ReadonlySet<CanonicalErrorKind> = new Set([
  'invalid',
  'tooLarge',
  'internal',
]);

/** Returns true for an error that says that the conversation is too long. */
function isTooLong({ kind, code, message }: CanonicalError): boolean {
  if (!ABOUT_REQUESTS.has(kind)) return false;
  return (code !== undefined && CODES.has(code)) || PHRASES.some((words) => words.test(message));
}

/**
 * Returns the error in the wording of `dialect` if it means that the conversation is too long;
 * undefined for any other.
 */
export function tooLongFor(
  dialect: TranslatableDialect,
  error: CanonicalError,
): CanonicalError | undefined {
  if (!isTooLong(error)) return undefined;
  return { kind: 'invalid', ...WORDING[dialect](figuresIn(error.message), error.message) };
}

type Wording = (
  figures: Figures | undefined,
  message: string,
) => Pick<CanonicalError, 'message' | 'code' | 'param'>;

const CODE = 'context_length_exceeded';
const OF_RESPONSES =
  'Your input exceeds the context window of this model. Please adjust your input and try again.';

const WORDING: Record<TranslatableDialect, Wording> = {
  messages: (figures, message) => ({
    message:
      figures === undefined
        ? `prompt is too long: ${message}`
        : `prompt is too long: ${figures.used} tokens > ${figures.limit} maximum`,
  }),
  chat: (figures) => ({
    code: CODE,
    param: 'messages',
    message:
      figures === undefined
        ? OF_RESPONSES
        : `This model's maximum context length is ${figures.limit} tokens. However, your messages resulted in ${figures.used} tokens. Please reduce the length of the messages.`,
  }),
  responses: () => ({ code: CODE, param: 'input', message: OF_RESPONSES }),
  generative: (figures) => ({
    message:
      figures === undefined
        ? 'The input token count exceeds the maximum number of tokens allowed.'
        : `The input token count (${figures.used}) exceeds the maximum number of tokens allowed (${figures.limit}).`,
  }),
};

/** The larger of two figures is what was sent; for input and output together, their sum. */
function figuresIn(message: string): Figures | undefined {
  const sum = /(?<!\d)(\d{1,12}) \+ (\d{1,12}) > (\d{1,12})/.exec(message);
  if (sum !== null) return { used: Number(sum[1]) + Number(sum[2]), limit: Number(sum[3]) };
  const numbers = [...message.matchAll(/\d{3,12}/g)].map(([text]) => Number(text));
  const [first, second, ...more] = [...new Set(numbers)];
  if (first === undefined || second === undefined || more.length > 0) return undefined;
  return { used: Math.max(first, second), limit: Math.min(first, second) };
}
