/**
 * What an error answer says about the account of the key that was sent. Providers use different
 * statuses for the same condition, so the message counts as well:
 *
 * | status        | message                                 | problem                            |
 * |---------------|-----------------------------------------|------------------------------------|
 * | 402           | any                                     | `no_credit`                        |
 * | 400, 403, 429 | balance, credit or quota are used up    | `no_credit`                        |
 * | 400           | the key is not valid                    | `refused`                          |
 * | 403           | the input was flagged                   | none: it is about the request      |
 * | 403           | no access to this model                 | `no_access`                        |
 * | 403           | any other                               | `refused`                          |
 *
 * `no_credit` and `refused` hold for every request with the key; `no_access` only for this one.
 */
import { isObject, parseJson } from '../dialect/json-kind.ts';

export type AccountProblem = 'no_credit' | 'refused' | 'no_access';

/** Statuses that may be about the account. */
const STATUSES: ReadonlySet<number> = new Set([400, 402, 403, 429]);

/**
 * Messages of Anthropic, OpenAI, xAI, Moonshot, DashScope, SiliconFlow, Novita and others. "You
 * exceeded your current quota" is not among them: Google uses it for a limit per minute as well.
 */
const NO_CREDIT =
  /credit balance|(?:insufficient|not[_ ]enough|no)[_ ](?:account[_ ])?(?:balance|quota|credits?|funds)|balance (?:is )?(?:insufficient|not enough|too low)|(?:out of|used all(?: \w+)?) (?:credits?|extra usage)|exceeded_current_quota|billing[_ ](?:hard[_ ]limit|not[_ ]active|error)|specified api usage limits|spending limit|arrearage|payment required/i;
/** Google's messages for an invalid key, for which others use 401. */
const INVALID_KEY = /API_KEY_INVALID|\bapi key (?:not valid|expired|not found)/i;
const FLAGGED = /flagged|moderation|content[_ ](?:policy|filter)/i;
const NO_ACCESS = /\bmodel\b|model_not_found/i;

/** Returns true for a status whose message is worth reading. */
export function mayBeOfAccount(status: number): boolean {
  return STATUSES.has(status);
}

/**
 * Returns what an answer with `status` says about the account; `body` is its decoded document, or
 * empty if unreadable.
 */
export function accountProblem(status: number, body: Buffer): AccountProblem | undefined {
  if (!STATUSES.has(status)) return undefined;
  if (status === 402) return 'no_credit';
  const texts = textsOf(body);
  if (NO_CREDIT.test(texts)) return 'no_credit';
  if (status === 400 && INVALID_KEY.test(texts)) return 'refused';
  if (status !== 403 || FLAGGED.test(texts)) return undefined;
  return NO_ACCESS.test(texts) ? 'no_access' : 'refused';
}

/**
 * Longest text that is searched: an error states its reason first, and may quote the request
 * afterwards.
 */
const MAX_TEXT_CHARS = 500;

/** Returns the error's own texts; quotes of the request are nested deeper. */
function textsOf(body: Buffer): string {
  const document = parseJson(body.toString('utf8'));
  const first: unknown = Array.isArray(document) ? document[0] : document;
  if (!isObject(first)) return '';
  const error = isObject(first['error']) ? first['error'] : first;
  const texts = [error['code'], error['type'], error['status'], error['message'], first['code']];
  if (typeof first['error'] === 'string') texts.push(first['error']);
  if (Array.isArray(error['details'])) texts.push(...error['details'].slice(0, 3).map(reasonOf));
  return texts
    .filter((text) => typeof text === 'string')
    .map((text) => text.slice(0, MAX_TEXT_CHARS))
    .join('\n');
}

/** Google gives the reason in one of the details. */
function reasonOf(detail: unknown): unknown {
  return isObject(detail) ? detail['reason'] : undefined;
}
