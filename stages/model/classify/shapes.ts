/** Whole-text shapes that need no line features: JSON and encoded blobs. */

const PROBED_CHARS = 2000;

/**
 * Returns true if the text begins and ends as JSON does, as one value or one per line. The parser
 * proper decides later.
 */
export function looksLikeJson(text: string): boolean {
  const first = text.search(/\S/);
  if (first < 0) return false;
  const start = text.slice(first, first + PROBED_CHARS);
  const last = text.slice(-PROBED_CHARS).trimEnd().at(-1);
  if (start[0] === '{')
    return last === '}' && /^\{\s*(?:"(?:[^"\\\n]|\\.){0,400}"\s*:|\})/.test(start);
  if (start[0] !== '[' || last !== ']') return false;
  return /^\[\s*(?:[[{"]|\]|-?\d[\d.eE+-]*\s*[,\]]|true|false|null)/.test(start);
}

const DATA_URL = /data:[\w/.+;=,-]{0,100}/y;
const NOT_ENCODED = /[^A-Za-z0-9+/=_-]/g;
/** Lines up to this long are hashes, keys and ids, one per line, or the body of a PEM file. */
const LONGEST_KEY = 75;
const HEX = /^[0-9a-fA-F]+$/;
/** Up to this length a line of hex is a hash, of whatever algorithm. */
const LONGEST_HASH = 128;

/**
 * Returns true if nearly all of a text of 512 characters or more is base64, hex or the like, on one
 * line or wrapped at one width. Armoured keys and lists of hashes are excluded, because people copy
 * them.
 */
export function looksLikeBlob(text: string): boolean {
  if (text.length < 512 || text.slice(0, PROBED_CHARS).includes('-----BEGIN ')) return false;
  const last = text.trimEnd().length;
  let encoded = 0;
  let start = 0;
  let width: number | undefined;
  while (start < text.length) {
    const found = text.indexOf('\n', start);
    const stop = found < 0 ? text.length : found;
    const end = text[stop - 1] === '\r' ? stop - 1 : stop;
    if (end - start > LONGEST_KEY) {
      width ??= end - start;
      if (end - start === width && isEncoded(text, start, end, last)) encoded += end - start;
    } else if (end > start && end < last) return false;
    start = stop + 1;
    if (start > PROBED_CHARS && encoded < start / 2) return false;
  }
  return encoded >= text.length * 0.9;
}

function isEncoded(text: string, start: number, end: number, last: number): boolean {
  // Padding ends a value: if more follows, this is one of a list.
  if (text[end - 1] === '=' && end < last) return false;
  DATA_URL.lastIndex = start;
  NOT_ENCODED.lastIndex = DATA_URL.test(text) ? DATA_URL.lastIndex : start;
  const other = NOT_ENCODED.exec(text);
  if (other !== null && other.index < end) return false;
  return end - start > LONGEST_HASH || !HEX.test(text.slice(start, end));
}
