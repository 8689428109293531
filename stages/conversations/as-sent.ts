/**
 * Puts into a request what went out for its blocks before, where thoughts are signed over it: whatever
 * stages have made of them, and also where nothing of the request may be edited.
 */
import { isEditable } from '../model/block.ts';
import { asSentBefore } from '../model/request.ts';
import type { NewValue, ProxyRequest } from '../model/request.ts';
import { appendedTo, isOfTools, toolsKey } from './conversations.ts';
import type { Conversations } from './conversations.ts';

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
}

/** The request as it may go out; itself where no thought is in it. */
export function asSent(request: ProxyRequest, conversations: Conversations): AsSent {
  const { original, edits } = request;
  const standing = conversations.standing(request);
  const same = { request, isBound: standing.isBound, repeated: 0, heldRaw: 0, restored: 0 };
  if (!standing.isBound) return same;
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
  if (heldRaw === 0 && restored === 0 && values === edits.values) return { ...same, repeated };
  const made = asSentBefore(request, { texts, appended, values });
  return { request: made, isBound: true, repeated, heldRaw, restored };
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
