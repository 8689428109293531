/**
 * The lines that remain readable in the compressed form of a block: encodings are undone,
 * references resolved to the lines they name, and svc's own markers left out.
 */
import { openEnvelope } from '../../model/classify/envelope.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import type { BlockOutcome, ConversationState } from '../pass/conversation.ts';
import { splitPasted } from '../pass/user-text.ts';
import { fillGutter } from '../repeats/gutter.ts';
import { ungroupGrep } from '../rules/grep/group-grep.ts';
import { decodeJson } from '../rules/json/decode.ts';
import { printCompact, readJson } from '../rules/json/lexer.ts';
import { unfoldListing } from '../rules/listing/fold-listing.ts';
import { stampLength } from '../rules/log/score.ts';
import { unpackStack } from '../rules/trace/pack-stack.ts';
import { markerIn } from '../text/marker.ts';
import {
  decodeJsonWithin,
  readTexts,
  restoreReferences,
  unfoldRepeats,
  expandHits,
  unpackSigns,
} from './decoders.ts';

/**
 * Returns the lines a changed block still contains, decoded, without markers. `state`: the whole
 * conversation's.
 */
export function keptLines(
  outcome: BlockOutcome,
  state: ConversationState,
  block: ConversationBlock,
): readonly string[] {
  if (!outcome.changed) return [];
  const carried = outcome.by.includes('texts') ? readTexts(outcome.text) : undefined;
  if (carried !== undefined)
    return [
      carried.frame,
      ...carried.texts.flatMap((text) => keptLines({ ...outcome, text, by: [] }, state, block)),
    ];
  const whole = restoreReferences(state.sent, outcome.text);
  const { prefix, suffix } =
    block.kind === 'user_text' ? splitPasted(block.text) : { prefix: '', suffix: '' };
  const pasted = whole.slice(prefix.length, whole.length - suffix.length);
  return (prefix + decode(pasted) + suffix)
    .split('\n')
    .filter((line) => markerIn(line) === undefined);
}

/** Decodes every encoding in a text that was sent; references stay as they are. */
export function decodedText(text: string): string {
  const carried = readTexts(text);
  return carried === undefined
    ? withDiffHeads(decode(fillGutter(text)))
    : [carried.frame, ...carried.texts.map(decodedText)].join('\n');
}

/** Expands `*** path` to the lines that begin the diff of a file. */
function withDiffHeads(text: string): string {
  return text.replaceAll(
    /^\*\*\* (.+?)( \((?:new|deleted) file mode \d+\))?$/gm,
    (head, path: string) => `${head}\ndiff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}`,
  );
}

/** Undoes the encodings of the text classes; references and line numbers are already resolved. */
function decode(text: string): string {
  const { prefix, body: named, suffix } = openEnvelope(text);
  const body = expandHits(named) ?? named;
  const json = readJson(body);
  const lossless =
    decodeJson(body) ??
    decodeJsonWithin(body) ??
    unfoldListing(body) ??
    ungroupGrep(body) ??
    (json === undefined ? body : printCompact(json));
  const frames = unpackStack(lossless) ?? lossless;
  return prefix + unpackSigns(unfoldRepeats(addStamps(frames))) + suffix;
}

const STAMPS = /^\[svc lines that begin like a time stamp had "(.+)" before them\]$/;

function addStamps(text: string): string {
  const [header = '', ...lines] = text.split('\n');
  const stamp = STAMPS.exec(header)?.[1];
  if (stamp === undefined) return text;
  const hadMarker = (line: string): boolean =>
    !line.startsWith(stamp) && stampLength(stamp + line) > stamp.length;
  return lines.map((line) => (hadMarker(line) ? stamp + line : line)).join('\n');
}
