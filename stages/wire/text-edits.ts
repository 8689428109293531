/**
 * The edits that replace the texts of blocks. Those that an earlier request of the conversation
 * made, too, are taken from it: most of a long conversation is sent as before.
 */
import { SvcError } from '../../engine/index.ts';
import type { Block, JsonPath } from '../model/block.ts';
import { sharedBy } from '../model/block-history.ts';
import type { ItemPlaces } from '../model/block-history.ts';
import { textOf } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { createPathScanner, findSpans } from './json-path.ts';
import type { ByteSpan } from './json-path.ts';
import { COMMA, skipSpace } from './json-skip.ts';
import type { SpliceEdit } from './splice.ts';

/** The edit that replaces the text of `block` by `text`. */
interface WrittenText extends SpliceEdit {
  readonly block: Block;
  readonly text: string;
}

/** Makes the edits of a conversation, by index of the block. */
export const writtenTexts = (): Map<number, WrittenText> => new Map();

/** Returns an edit for each block that is sent with another text. */
export function textEdits(request: ProxyRequest): readonly SpliceEdit[] {
  const { original } = request;
  const { history } = original;
  const written = sharedBy(history, writtenTexts);
  const edits: SpliceEdit[] = [];
  const others: (readonly [block: Block & { path: JsonPath }, text: string])[] = [];
  for (const [index, text] of textsOf(request)) {
    const block = original.blocks()[index];
    const known = written?.get(index);
    if (block === undefined || !hasPath(block)) continue;
    if (known !== undefined && known.block === block && known.text === text) edits.push(known);
    else others.push([block, text]);
  }
  const paths = others.map(([{ path }]) => path);
  const spans = spansOf(original.body.bytes, paths, history?.places);
  for (const [at, [block, text]] of others.entries()) {
    const span = spans[at];
    if (span === undefined) throw new SvcError('internal', 'A text has no place in the body');
    const edit: WrittenText = { ...span, bytes: Buffer.from(JSON.stringify(text)), block, text };
    written?.set(block.index, edit);
    edits.push(edit);
  }
  return edits;
}

function hasPath(block: Block): block is Block & { path: JsonPath } {
  return block.path !== undefined;
}

/** Returns the new texts by block index, each with what is appended to its message. */
function textsOf(request: ProxyRequest): ReadonlyMap<number, string> {
  const { original, edits } = request;
  if (edits.appended.size === 0) return edits.texts;
  const texts = new Map(edits.texts);
  for (const [message, text] of edits.appended) {
    const tail = original
      .blocks()
      .findLast((block) => block.message === message && block.kind === 'text' && block.path);
    if (tail === undefined)
      throw new SvcError('internal', `Message ${message} has no text to append to`);
    texts.set(tail.index, textOf(request, tail) + text);
  }
  return texts;
}

/** Scans only the messages that have a path, if their places are known. */
function spansOf(
  bytes: Buffer,
  paths: readonly JsonPath[],
  places: ItemPlaces | undefined,
): readonly (ByteSpan | undefined)[] {
  if (paths.length === 0) return [];
  if (places === undefined) return findSpans(bytes, paths);
  const { name, ends } = places;
  const spans: (ByteSpan | undefined)[] = [];
  /** Indexes of the paths in each message; under `undefined` those of the others. */
  const groups = new Map<number | undefined, number[]>();
  for (const [at, [list, item]] of paths.entries()) {
    const isInItem = list === name && typeof item === 'number' && item < ends.length;
    const key = isInItem ? item : undefined;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [at]);
    else group.push(at);
  }
  for (const [item, group] of groups) {
    const scan = createPathScanner(group.map((at) => paths[at]!.slice(item === undefined ? 0 : 2)));
    const found =
      item === undefined ? scan(bytes) : scan(bytes, startOf(bytes, item, places), ends[item]);
    for (const [n, at] of group.entries()) spans[at] = found[n];
  }
  return spans;
}

function startOf(bytes: Buffer, item: number, { start, ends }: ItemPlaces): number {
  const from = skipSpace(bytes, item === 0 ? start + 1 : ends[item - 1]!, bytes.length);
  return bytes[from] === COMMA ? from + 1 : from;
}
