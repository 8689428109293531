/** Whole-text shapes that need no line features: JSON and encoded blobs. */

const PROBE = 2000;

/** True if the text begins and ends as JSON does, one value or one a line. The parser proper decides later. */
export function looksLikeJson(text: string): boolean {
  const first = text.search(/\S/);
  if (first < 0) return false;
  const head = text.slice(first, first + PROBE);
  const last = text.slice(-PROBE).trimEnd().at(-1);
  if (head[0] === '{')
    return last === '}' && /^\{\s*(?:"(?:[^"\\\n]|\\.){0,400}"\s*:|\})/.test(head);
  if (head[0] !== '[' || last !== ']') return false;
  return /^\[\s*(?:[[{"]|\]|-?\d[\d.eE+-]*\s*[,\]]|true|false|null)/.test(head);
}

const ENCODED = /^(?:data:[\w/.+;=,-]{0,100})?[A-Za-z0-9+/=_-]{64,}$/;

/** True if nearly all of a text of 512 characters or more is base64, hex or the like. */
export function looksLikeBlob(text: string): boolean {
  if (text.length < 512) return false;
  let encoded = 0;
  let start = 0;
  while (start < text.length) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    if (end - start < 64) {
      start = end + 1;
      continue;
    }
    // A head of the line tells: a long line is looked at in three places, not in full.
    const middle = start + Math.floor((end - start) / 2);
    const pieces = [start, middle, Math.max(start, end - 400)].map((at) =>
      text.slice(at, Math.min(end, at + 400)).trimEnd(),
    );
    if (pieces.every((piece) => piece.length < 64 || ENCODED.test(piece))) encoded += end - start;
    start = end + 1;
  }
  return encoded >= text.length * 0.9;
}
