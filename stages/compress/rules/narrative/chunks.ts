/**
 * Splits prose into chunks that are kept or dropped as a whole. Joined again, they give the text.
 * Only sentences are ever dropped: a text without a sentence end is a row, a name or a caption.
 */
import { classifyLine } from '../../../model/classify/prose.ts';
import { lineBreaks } from '../../text/line-breaks.ts';

/** A sentence or clause, or a part of the text that is never dropped. */
export interface Chunk {
  readonly text: string;
  /** The white space after it. */
  readonly space: string;
  readonly droppable: boolean;
  /** Zero-based line on which it begins. */
  readonly line: number;
}

/** Headings, lists, tables, quotes, code and other layout: not prose. */
const LAYOUT =
  /^(?:#{1,6} |\s*[-*+•] |\s*\d{1,3}[.)] |\s*\||\s*>|\s*[<+!|=]| {4}|\t|={3,}|-{3,}|.{0,80}:$)/;
/** Spans that may be needed verbatim. */
const MUST_KEEP =
  /`[^`]+`|https?:\/\/|(?:^|\s)(?:\.{0,2}\/)?[\w.-]+\/[\w./-]{3,}|\b[0-9a-f]{8,}\b|(?<![\w.-])[\w.-]+@[\w.-]+\.\w+|\b(?:error|exception|warning|failed|traceback)\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b\w+\(\)|\b[a-z]+[A-Z]\w+\b/;
/** Instructions, and statements of defaults or of what is unsupported, are never dropped. */
const INSTRUCTION = new RegExp(
  [
    String.raw`\b(?:you|your|please|must|should|shall|do not|don't|never|always|make sure|ensure|important|note that|remember|required?)\b`,
    String.raw`\b(?:not (?:yet )?supported|unsupported|no longer (?:supported|used|needed|works?)|deprecated|by default|beware|caution)\b`,
    String.raw`^(?:use|write|add|fix|run|create|implement|return|explain|summari[sz]e|answer|find|list)\b`,
    String.raw`^(?:install|set|unset|copy|configure|start|stop|open|go|click|select|choose|enter|replace|delete|remove|change|check|verify|call|pass|export|import|keep|put|move|download|build|rebuild|enable|disable|edit|restart|deploy|wait|save|pick|turn)\b`,
  ].join('|'),
  'i',
);

/** Longer pieces without a sentence end are not prose. */
const MAX_SENTENCE_CHARS = 2000;

const FENCE = /^\s{0,6}(?:```|~~~)/;
const SENTENCE_END_AT_LINE_END =
  /[.!?…]["'”’»)\]*_]{0,3}(?:\[[^\]\n]{1,30}\]){0,4}$|[。！？؟۔।]["'”’」』）]{0,3}$/;
const SENTENCE_END =
  /[.!?…]["'”’»)\]*_]{0,3}(?=\s|$)|[。！？]["'”’」』）]{0,3}|[؟۔।](?=\s|$)|\n\s*\n/g;
const CLAUSE = /[;:,–—] |[；：，、،]/g;
/** "the U.S. government": no sentence ends before a lower-case word. */
const STARTS_LOWER_CASE = /^\s*\p{Ll}/u;
const ABBREVIATION =
  /\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|cf|No|Vol|Fig|Inc|Ltd|Co|approx|ca|al)\.$/;
/** A shorter line without a sentence end is a row or a caption, not wrapped text. */
const MIN_WRAPPED_CHARS = 50;

/**
 * Splits a text into chunks. Sentences longer than four times `maxChars` are split at clauses near
 * that length.
 */
export function chunkText(text: string, maxChars: number): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const lines = text.split(/(?<=\n)/);
  let fenced = false;
  for (let at = 0; at < lines.length;) {
    const fence = FENCE.test(lines[at]!);
    const end = fenced || fence ? at : paragraphEnd(lines, at);
    if (fence) fenced = !fenced;
    if (end === at) {
      const body = lines[at]!.trimEnd();
      chunks.push({ text: body, space: lines[at]!.slice(body.length), droppable: false, line: at });
      at++;
      continue;
    }
    let line = at;
    for (const sentence of sentences(lines.slice(at, end).join(''))) {
      const whole = isSentence(sentence);
      for (const piece of whole ? clauses(sentence, maxChars) : [sentence]) {
        chunks.push(toChunk(piece, line, whole));
        line += lineBreaks(piece);
      }
    }
    at = end;
  }
  return chunks;
}

/**
 * Returns the end of the prose that begins on a line, or the line itself if it is not prose.
 * Wrapped lines continue until a sentence ends.
 */
function paragraphEnd(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && isProse(lines[at]!)) {
    const body = lines[at]!.trimEnd();
    at++;
    if (body.length < MIN_WRAPPED_CHARS || SENTENCE_END_AT_LINE_END.test(body)) break;
    // The last line of a paragraph may be too short to be recognized by itself.
    if (at < lines.length && isEndOfParagraph(lines[at]!)) return at + 1;
  }
  return at;
}

function isProse(line: string): boolean {
  const body = line.trimEnd();
  return body.length <= 200_000 && !LAYOUT.test(body) && classifyLine(body) === 'prose';
}

function isEndOfParagraph(line: string): boolean {
  return (
    line.length < MIN_WRAPPED_CHARS &&
    /^[\p{L}("'“]/u.test(line) &&
    !/\s{2,}\S|\t/.test(line) &&
    SENTENCE_END_AT_LINE_END.test(line.trimEnd())
  );
}

/**
 * Returns true for text that begins and ends like a sentence: neither a row nor the rest of a line
 * above.
 */
function isSentence(text: string): boolean {
  return !/^\s*\p{Ll}/u.test(text) && SENTENCE_END_AT_LINE_END.test(text.trimEnd());
}

function toChunk(piece: string, line: number, whole: boolean): Chunk {
  const text = piece.trimEnd();
  const droppable =
    whole &&
    text.length >= 20 &&
    text.length <= MAX_SENTENCE_CHARS &&
    !MUST_KEEP.test(text) &&
    !INSTRUCTION.test(text);
  return { text, space: piece.slice(text.length), droppable, line };
}

function sentences(paragraph: string): string[] {
  const out: string[] = [];
  let start = 0;
  for (const match of paragraph.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    if (ABBREVIATION.test(paragraph.slice(Math.max(start, end - 12), end))) continue;
    if (STARTS_LOWER_CASE.test(paragraph.slice(end, end + 40))) continue;
    const space = /^\s*/.exec(paragraph.slice(end, end + 40))![0].length;
    out.push(paragraph.slice(start, end + space));
    start = end + space;
  }
  if (start < paragraph.length) out.push(paragraph.slice(start));
  return out;
}

function clauses(sentence: string, maxChars: number): string[] {
  if (sentence.length <= maxChars * 4) return [sentence];
  const out: string[] = [];
  let start = 0;
  for (const match of sentence.matchAll(CLAUSE)) {
    const end = match.index + match[0].length;
    if (end - start < maxChars) continue;
    out.push(sentence.slice(start, end));
    start = end;
  }
  out.push(sentence.slice(start));
  return out;
}
