/**
 * Redacts everything that goes to the log: removes terminal control characters, and secrets by the
 * name of their field, by their known values in each encoding in which they travel, and by the
 * usual formats of keys. Known values come first because patterns miss short keys.
 */
import { withoutNamedCredentials } from '../../stages/model/credential-members.ts';
import { withoutCredentials } from '../../stages/model/credential-shapes.ts';
import { byLength, secretForms } from '../../stages/model/secret-forms.ts';

/** Replacement for a secret. */
export const REDACTED = '[redacted]';

export interface Redactor {
  /** Adds `value` as a secret, in any encoding. The empty string is ignored. */
  readonly addSecret: (value: string) => void;
  /** Returns text without control characters and secrets, cut at the maximum length. */
  readonly text: (value: string) => string;
  /** Returns `value` without the `secrets`, in any encoding; these are not remembered. Not cut. */
  readonly without: (value: string, secrets: readonly string[]) => string;
  /**
   * Returns a plain copy of any value: redacted, with flattened errors; bytes and functions are
   * only mentioned.
   */
  readonly value: (value: unknown) => unknown;
}

const MAX_TEXT_CHARS = 16_384;
// Length of a longer text that is examined: cleaning megabytes would hold up every request.
const WINDOW = 4 * MAX_TEXT_CHARS;
const MAX_DEPTH = 8;
const MAX_WIDTH = 200;
const MAX_NAME_CHARS = 100;
const MAX_NAMES = 1000;

const SECRET_NAME =
  /^(?:(?:proxy-)?authorization|cookie|set-cookie|secret|password|passwd|token)$|(?:^|[-_.])(?:api[-_]?key|svc[-_]key|goog[-_]api[-_]key|secret|password|(?:access|auth|oauth|refresh|bearer|session|csrf|id)[-_]?token2?)$|^(?:apikey|svckey|accesstoken|authtoken|refreshtoken)$|(?:api[-_]?key|oauth_token2?)$/i;

// CSI and OSC sequences as a whole, then any other escape (ECMA-48 §5.4, §5.6).
const ESCAPES =
  // oxlint-disable-next-line no-control-regex
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
// C0 but tab and newline, DEL, C1, and the bidirectional controls that reorder a line for its
// reader.
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
// oxlint-disable-next-line no-control-regex
const UNCLEAN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

// Quick check for all patterns below: most texts stop here.
const SECRET_HINT = /bearer|basic|:\/\/|[?&][a-z]|api-key|svc-key|authorization|cookie/i;
/** Places that hold credentials of any format. */
const SECRET_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`],
  [/([?&](?:key|api[-_]?key|access_token|token|secret)=)[^&\s"'#]+/gi, `$1${REDACTED}`],
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"']{1,512}@/gi, `$1${REDACTED}@`],
  [
    /((?:x-api-key|x-svc-key|x-goog-api-key|authorization|cookie)"?\s*[:=]\s*"?)[^\s"',;]+/gi,
    `$1${REDACTED}`,
  ],
];

/** Creates a redactor that initially knows `secrets`. */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const cleaner = createCleaner();
  const copier = createCopier(cleaner.text);
  const addSecret = (value: string) => {
    if (value === '') return;
    cleaner.addSecret(value);
    copier.forgetNames();
  };
  for (const secret of secrets) addSecret(secret);
  return { addSecret, text: cleaner.text, without, value: (value) => copier.copy(value, 0) };
}

function without(value: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return value;
  const patterns = secrets.flatMap(secretForms).map((form) => form.source);
  const known = new RegExp([...new Set(patterns)].toSorted(byLength).join('|'), 'g');
  return value.replace(ESCAPES, '').replace(CONTROLS, '').replace(known, REDACTED);
}

/** Redacts single texts. */
function createCleaner(): Pick<Redactor, 'addSecret' | 'text'> {
  const patterns = new Set<string>();
  let known: RegExp | undefined;
  // Lengths of patterns' sources, which are never shorter than what they match.
  let longestForm = 0;
  let shortestForm = Number.POSITIVE_INFINITY;
  return {
    addSecret(value) {
      for (const form of secretForms(value)) {
        patterns.add(form.source);
        shortestForm = Math.min(shortestForm, form.length);
        longestForm = Math.max(longestForm, form.source.length);
      }
      const ordered = [...patterns].toSorted(byLength);
      known = new RegExp(ordered.join('|'), 'g');
    },
    text(value) {
      const isLong = value.length > WINDOW;
      let text = isLong ? value.slice(0, WINDOW) : value;
      // Escapes are removed first: inside a secret they would hide it.
      if (UNCLEAN.test(text)) text = text.replace(ESCAPES, '').replace(CONTROLS, '');
      if (known !== undefined && text.length >= shortestForm) text = text.replace(known, REDACTED);
      if (SECRET_HINT.test(text)) {
        for (const [pattern, replacement] of SECRET_PATTERNS)
          text = text.replace(pattern, replacement);
      }
      text = withoutNamedCredentials(withoutCredentials(text, REDACTED), REDACTED);
      if (!isLong && text.length <= MAX_TEXT_CHARS) return text;
      // Half a secret is not recognized, so the edge of the window, which may contain one, is
      // dropped.
      const end = isLong ? Math.max(0, text.length - longestForm) : text.length;
      return `${text.slice(0, Math.min(end, MAX_TEXT_CHARS))}… (${value.length} characters)`;
    },
  };
}

interface CleanName {
  readonly text: string;
  readonly isSecret: boolean;
}

interface Copier {
  copy(value: unknown, depth: number): unknown;
  forgetNames(): void;
}

/** Copies values of any shape, redacting their texts with `clean`. */
function createCopier(clean: (text: string) => string): Copier {
  // Field names are few and recur in every line.
  const names = new Map<string, CleanName>();

  function cleanName(name: string): CleanName {
    const seen = names.get(name);
    if (seen !== undefined) return seen;
    const fresh = { text: clean(name), isSecret: isSecretName(name) };
    if (names.size >= MAX_NAMES) names.clear();
    if (name.length < MAX_NAME_CHARS) names.set(name, fresh);
    return fresh;
  }

  function copy(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return clean(value);
    if (value === null || typeof value !== 'object') return copyPrimitive(value);
    if (depth >= MAX_DEPTH) return '[deeper]';
    if (value instanceof Error) return copy(flattenError(value), depth);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (value instanceof URL) return clean(value.href);
    if (Array.isArray(value)) return copyList(value, depth + 1, copy);
    const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
    const copied = entries.slice(0, MAX_WIDTH).map(([key, item]) => {
      const name = cleanName(String(key));
      const isSecret = name.isSecret && item !== null && item !== undefined;
      return [name.text, isSecret ? REDACTED : copy(item, depth + 1)] as const;
    });
    return Object.fromEntries(copied);
  }

  return { copy, forgetNames: () => names.clear() };
}

function copyPrimitive(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'function' || typeof value === 'symbol' ? `[${typeof value}]` : value;
}

/** Headers come as flat lists and as pairs: the element after a secret's name is secret. */
function copyList(list: readonly unknown[], depth: number, copy: Copier['copy']): unknown[] {
  const copied = list.slice(0, MAX_WIDTH).map((item, index) => {
    const before = index > 0 ? list[index - 1] : undefined;
    return typeof before === 'string' && isSecretName(before) ? REDACTED : copy(item, depth);
  });
  if (list.length > MAX_WIDTH) copied.push(`[${list.length - MAX_WIDTH} more]`);
  return copied;
}

function isSecretName(name: string): boolean {
  return name.length < MAX_NAME_CHARS && SECRET_NAME.test(name);
}

function flattenError(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const code: unknown = 'code' in error ? error.code : undefined;
  return {
    name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack }),
    ...(cause === undefined ? {} : { cause }),
  };
}
