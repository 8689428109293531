/** Prose cut into chunks that are kept or dropped whole. Joined again, they are the text. */

/** A sentence or clause, or a part of the text that is never dropped. */
export interface Chunk {
  readonly text: string;
  /** The white space that follows it. */
  readonly space: string;
  readonly droppable: boolean;
  /** Zero-based line that it begins on. */
  readonly line: number;
}

/** Headings, lists, tables, quotes, code and whatever else is laid out: not prose. */
const LAID_OUT =
  /^(?:#{1,6} |\s*[-*+•] |\s*\d{1,3}[.)] |\s*\||\s*>|```|~~~| {4}|\t|={3,}|-{3,}|.{0,80}:$|<[\w/])/;
/** Spans that someone may need to the letter. */
const MUST_KEEP =
  /`[^`]+`|https?:\/\/|(?:^|\s)(?:\.{0,2}\/)?[\w.-]+\/[\w./-]{3,}|\b[0-9a-f]{8,}\b|[\w.-]+@[\w.-]+\.\w+|\b(?:error|exception|warning|failed|traceback)\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b\w+\(\)|\b[a-z]+[A-Z]\w+\b/;
/** An instruction is not material to be thinned out. */
const INSTRUCTION =
  /\b(?:you|your|please|must|should|shall|do not|don't|never|always|make sure|ensure|important|note that|remember|required?)\b|^(?:use|write|add|fix|run|create|implement|return|explain|summari[sz]e|answer|find|list)\b/i;

/** Longer pieces without a sentence's end are no prose. */
const LONGEST = 2000;

const END = /[.!?]["'”’)\]]{0,3}(?=\s|$)|\n\s*\n/g;
const CLAUSE = /[;:,–—] /g;
const ABBREVIATION =
  /\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|cf|No|Vol|Fig|Inc|Ltd|Co|approx|ca|al)\.$/;

/** Cuts a text into chunks. Sentences longer than four times `maxChars` are cut at clauses near that length. */
export function chunkText(text: string, maxChars: number): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let line = 0;
  let fenced = false;
  for (const paragraph of text.split(/(?<=\n)/)) {
    const fence = /^\s{0,6}(?:```|~~~)/.test(paragraph);
    const body = paragraph.trimEnd();
    if (fenced || fence || body === '' || body.length > 200_000 || LAID_OUT.test(body)) {
      chunks.push({ text: body, space: paragraph.slice(body.length), droppable: false, line });
    } else for (const piece of sentences(paragraph, maxChars)) chunks.push(toChunk(piece, line));
    if (fence) fenced = !fenced;
    line++;
  }
  return chunks;
}

function toChunk(piece: string, line: number): Chunk {
  const text = piece.trimEnd();
  const droppable =
    text.length >= 20 && text.length <= LONGEST && !MUST_KEEP.test(text) && !INSTRUCTION.test(text);
  return { text, space: piece.slice(text.length), droppable, line };
}

function sentences(paragraph: string, maxChars: number): string[] {
  const out: string[] = [];
  let start = 0;
  for (const match of paragraph.matchAll(END)) {
    const end = match.index + match[0].length;
    if (ABBREVIATION.test(paragraph.slice(Math.max(start, end - 12), end))) continue;
    const space = /^\s*/.exec(paragraph.slice(end, end + 40))![0].length;
    out.push(...clauses(paragraph.slice(start, end + space), maxChars));
    start = end + space;
  }
  if (start < paragraph.length) out.push(...clauses(paragraph.slice(start), maxChars));
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
