/**
 * The false-fact test: every line that goes out stands in the input, or decodes to lines
 * that do. Whatever is left over was made up by us, and must be nothing but markers.
 */
import { openEnvelope } from '../../stages/model/classify/envelope.ts';
import {
  compressConversation,
  emptyState,
  type ConversationBlock,
  type ConversationOptions,
} from '../../stages/compress/conversation.ts';
import { unpackSigns } from '../../stages/compress/diff-signs.ts';
import { unpackFrames } from '../../stages/compress/frames.ts';
import { ungroupGrep } from '../../stages/compress/grep.ts';
import { unnameHits } from '../../stages/compress/grep-same.ts';
import { decodeJson } from '../../stages/compress/json-decode.ts';
import { printCompact, readJson } from '../../stages/compress/json-lexer.ts';
import { unfoldListing } from '../../stages/compress/listing.ts';
import { cleanLine, unfoldLog } from '../../stages/compress/log-clean.ts';
import { MARK } from '../../stages/compress/marker.ts';

/** A line that went out and is neither a line of the input nor decodes to one. */
export interface StrangeLine {
  readonly block: number;
  readonly line: string;
}

/** What a conversation's outcome holds that its input does not. Empty is the only right answer. */
export function strangeLines(
  blocks: readonly ConversationBlock[],
  options: ConversationOptions,
): { readonly kept: number; readonly strange: readonly StrangeLine[] } {
  const state = emptyState();
  let kept = 0;
  const strange = compressConversation(blocks, options, undefined, state).flatMap((outcome, at) => {
    if (!outcome.changed) return [];
    const before = blocks[at]!.text;
    const decoded = decode(state.sent.restore(outcome.text));
    const lines = decoded.split('\n').filter((line) => !line.includes(MARK));
    kept += lines.length;
    const isKnown = knownLines(before);
    return lines.filter((line) => !isKnown(line)).map((line) => ({ block: outcome.index, line }));
  });
  return { kept, strange };
}

/** Undoes what the classes do; references and line numbers are back already. */
function decode(text: string): string {
  const { head, body: named, tail } = openEnvelope(text);
  const body = unnameHits(named) ?? named;
  const json = readJson(body);
  const lossless =
    decodeJson(body) ??
    unfoldListing(body) ??
    ungroupGrep(body) ??
    (json === undefined ? body : printCompact(json));
  const frames = unpackFrames(lossless) ?? lossless;
  return head + unpackSigns(unfoldLog(addStamps(frames))) + tail;
}

const STAMPS = /^\[svc lines that begin like a time stamp had "(.+)" before them\]$/;

function addStamps(text: string): string {
  const [header = '', ...lines] = text.split('\n');
  const stamp = STAMPS.exec(header)?.[1];
  if (stamp === undefined) return text;
  return lines.map((line) => (line.includes(MARK) ? line : stamp + line)).join('\n');
}

/** Whether a line stands in the input: as it is, as a terminal shows it, as compact JSON, or as sentences of it. */
function knownLines(before: string): (line: string) => boolean {
  const lines = before.split('\n');
  const known = new Set([...lines, ...lines.map(cleanLine)]);
  for (const text of [before, openEnvelope(before).body]) {
    const json = readJson(text);
    if (json !== undefined) for (const line of printCompact(json).split('\n')) known.add(line);
  }
  return (line) =>
    known.has(line) ||
    isDiffHeader(line, before) ||
    line.split('…').every((piece) => piece.trim() === '' || before.includes(piece.trim()));
}

/** `*** p` for two header lines of the input, and the numbers of a hunk cut shorter (`diff.test.ts` shows them true). */
function isDiffHeader(line: string, before: string): boolean {
  const path = /^\*\*\* (.+?)(?: \((?:new|deleted) file mode \d+\))?$/.exec(line)?.[1];
  if (path !== undefined) return before.includes(`diff --git a/${path} b/${path}`);
  return before.includes('\n@@ -') && /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/.test(line);
}
