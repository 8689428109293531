/**
 * Puts into a request what went out for its blocks before, where thoughts are signed over it: whatever
 * stages have made of them, and also where nothing of the request may be edited.
 */
import { isEditable } from '../model/block.ts';
import { asSentBefore } from '../model/request.ts';
import type { NewValue, Original, ProxyRequest } from '../model/request.ts';
import { appendedTo, isOfTools, toolsKey } from './conversations.ts';
import type { Conversations } from './conversations.ts';
import type { Stand, Standing } from './standing.ts';

/** What goes out, and how many blocks of it were decided by what went out before. */
export interface AsSent {
  readonly request: ProxyRequest;
  /** True where a thought is signed over it. */
  readonly isBound: boolean;
  /** Blocks that go out smaller, or with more in them, as they did before. */
  readonly repeated: number;
  /** Blocks that a stage would have changed and that stay as they came. */
  readonly heldRaw: number;
  /** Blocks that go out as they were sent though a stage, or nobody, would have it otherwise now. */
  readonly restored: number;
  /** How its blocks go out, and why; those that nothing may change in any case are in no group. Empty without a thought. */
  readonly groups: readonly BlockGroup[];
}

/** Blocks that go out alike, in words: for `/trace`, the dashboard and `svc diff`. */
export interface BlockGroup {
  /** Numbers of blocks, as in `0–3, 7`. */
  readonly blocks: string;
  readonly sent: 'as before' | 'as it came' | 'may be changed';
  readonly because: string;
  readonly [more: string]: string;
}

const SENT = { 'as-sent': 'as before', raw: 'as it came', free: 'may be changed' } as const;

/** The request as it may go out; itself where no thought is in it. */
export function asSent(request: ProxyRequest, conversations: Conversations): AsSent {
  const { original, edits } = request;
  const standing = conversations.standing(request);
  const same = {
    request,
    isBound: standing.isBound,
    repeated: 0,
    heldRaw: 0,
    restored: 0,
    groups: [],
  };
  if (!standing.isBound) return same;
  const groups = groupsOf(original, standing);
  const texts = new Map(edits.texts);
  const appended = new Map(edits.appended);
  const tails = appendedTo(request);
  let [repeated, heldRaw, restored] = [0, 0, 0];
  for (const block of original.blocks()) {
    if (!isEditable(block)) continue;
    const { index, message, text } = block;
    const stand = standing.standOf(index);
    if (stand === 'free') continue;
    const more = tails.get(index);
    const now = (texts.get(index) ?? text) + (more ?? '');
    if (standing.allows(index, now)) {
      if (now !== text) repeated += 1;
      continue;
    }
    if (more !== undefined) appended.delete(message);
    const sent = standing.fixedText(index)!;
    if (sent === text) {
      texts.delete(index);
      heldRaw += 1;
    } else {
      texts.set(index, sent);
      repeated += 1;
      restored += 1;
    }
  }
  const values = toolsAsSent(request, conversations);
  if (heldRaw === 0 && restored === 0 && values === edits.values)
    return { ...same, repeated, groups };
  const made = asSentBefore(request, { texts, appended, values });
  return { request: made, isBound: true, repeated, heldRaw, restored, groups };
}

function groupsOf(original: Original, standing: Standing): readonly BlockGroup[] {
  const groups = new Map<string, { readonly stand: Stand; spans: (readonly [number, number])[] }>();
  let last = '';
  for (const block of original.blocks()) {
    if (!isEditable(block)) continue;
    const { index } = block;
    const stand = standing.standOf(index);
    const because = becauseOf(stand, index < standing.lastThought);
    const group = groups.get(because) ?? { stand, spans: [] };
    groups.set(because, group);
    const from = last === because ? group.spans.pop()![0] : index;
    group.spans.push([from, index]);
    last = because;
  }
  return [...groups].map(([because, { stand, spans }]) => ({
    blocks: spans.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', '),
    sent: SENT[stand],
    because,
  }));
}

function becauseOf(stand: Stand, isBefore: boolean): string {
  if (stand === 'as-sent')
    return isBefore
      ? 'a thought is signed over what was sent'
      : 'it was sent so before, and a thought may be signed over it';
  if (stand === 'raw')
    return isBefore
      ? 'a thought is signed over it as it came'
      : 'compression.remember is off, so that it could not be repeated';
  return isBefore
    ? 'an older version of svc sent it, and computes it as it did'
    : 'no thought is signed over it yet';
}

/** The edited values, with those of the tools as they went out before. */
function toolsAsSent(
  { original, edits }: ProxyRequest,
  conversations: Conversations,
): readonly NewValue[] {
  const { tools, isOlder, pin } = conversations.memoryOf({ original }).record;
  const isEdited = edits.values.some(isOfTools);
  if (!isEdited && tools.size === 0) return edits.values;
  const written = tools.get(toolsKey(original));
  // Of an older program, which trimmed them and did not write it down.
  if (written === undefined && isEdited && isOlder && pin?.tools === 'trim') return edits.values;
  if (written !== undefined && written === JSON.stringify(edits.values.filter(isOfTools)))
    return edits.values;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `noteSent`
  const before = written === undefined ? [] : (JSON.parse(written) as NewValue[]);
  return [...edits.values.filter((value) => !isOfTools(value)), ...before];
}
