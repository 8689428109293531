/** Replaces encoded blobs, which no reader can use, by their kind, length and hash. */
import { createHash } from 'node:crypto';
import type { Apply } from '../rule.ts';
import { lineBreaks } from '../../text/line-breaks.ts';
import { MARK } from '../../text/marker.ts';

/** Shorter blobs may be keys, certificates or tokens that the user needs to copy. */
const MIN_CHARS = 4096;

/** Replaces a text that is all base64 or hex. Signed tokens (three dotted parts) are kept. */
export const dropBlobs: Apply = (text) => {
  if (text.length < MIN_CHARS || /^ey[\w-]+\.[\w-]+\.[\w-]*\s*$/.test(text.slice(0, 20_000)))
    return undefined;
  const kind =
    /^data:[\w/.+-]{1,80}/.exec(text)?.[0] ?? (/^[0-9a-fA-F\s]{400}/.test(text) ? 'hex' : 'base64');
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return {
    text: `${MARK}omitted ${text.length} characters of ${kind} here (sha256 ${hash}…); the source is complete]`,
    removed: [{ from: 0, to: lineBreaks(text) + 1 }],
  };
};
