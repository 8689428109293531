/**
 * Restores in a request the block texts that were sent before, if thinking blocks are signed over
 * them: whatever the stages made of those blocks, and even if the request may not be edited.
 */
import { isEditable } from '../model/block.ts';
import { asSentBefore } from '../model/request.ts';
import type { NewValue, ProxyRequest } from '../model/request.ts';
import { appendedTo, isToolEdit, toolsKey } from './conversations.ts';
import type { Conversations } from './conversations.ts';
import type { SendingRule, SendingRules } from './sending-rules.ts';

/** The request to send, and how many of its blocks were fixed by earlier requests. */
export interface AsSent {
  readonly request: ProxyRequest;
  /** True if thinking blocks fix how it is sent; see `SendingRules`. */
  readonly isBound: boolean;
  /** Blocks sent modified (shortened or extended) exactly as before. */
  readonly repeated: number;
  /** Blocks that the stages changed but that are sent unmodified. */
  readonly heldRaw: number;
  /** Returns how its editable blocks are sent and why; empty unless `isBound`. */
  readonly groups: () => readonly BlockGroup[];
}

/**
 * Blocks that are sent the same way for the same reason, as text for `/trace`, the dashboard and
 * `svc diff`.
 */
export interface BlockGroup {
  /** Block indexes, as in `0–3, 7`. */
  readonly blocks: string;
  readonly sent: 'as before' | 'as it came' | 'may be changed';
  readonly because: string;
  readonly [more: string]: string;
}

const SENT = { 'as-sent': 'as before', raw: 'as it came', free: 'may be changed' } as const;

/** Returns the request as it may be sent; the same object if nothing has to be restored. */
export function asSent(request: ProxyRequest, conversations: Conversations): AsSent {
  const { original, edits } = request;
  const rules = conversations.standing(request);
  if (!rules.isBound) return { request, isBound: false, repeated: 0, heldRaw: 0, groups: () => [] };
  const groups = new BlockGroups(rules);
  const texts = new Map(edits.texts);
  const appended = new Map(edits.appended);
  const tails = appendedTo(request);
  let [repeated, heldRaw] = [0, 0];
  let isRestored = false;
  for (const block of original.blocks()) {
    if (!isEditable(block)) continue;
    const { index, message, text } = block;
    const written = rules.writtenOf(index);
    const rule = rules.ruleWith(index, written);
    groups.add(index, rule);
    if (rule === 'free') continue;
    const more = tails.get(index);
    const now = (edits.texts.get(index) ?? text) + (more ?? '');
    if (rules.wasSent(index, now, written)) {
      if (now !== text) repeated += 1;
      continue;
    }
    if (more !== undefined) appended.delete(message);
    isRestored = true;
    const sent = rules.fixedText(index)!;
    if (sent === text) {
      texts.delete(index);
      heldRaw += 1;
    } else {
      texts.set(index, sent);
      repeated += 1;
    }
  }
  const values = toolsAsSent(request, conversations);
  const counts = { isBound: true, repeated, heldRaw, groups: () => groups.list() };
  if (!isRestored && values === edits.values) return { request, ...counts };
  return { request: asSentBefore(request, { texts, appended, values }), ...counts };
}

/** Collects blocks sent the same way for the same reason. */
class BlockGroups {
  readonly #lastThought: number;
  readonly #spans = new Map<
    string,
    { readonly rule: SendingRule; readonly list: [from: number, to: number][] }
  >();
  #last: [from: number, to: number] = [0, 0];
  #because = '';

  constructor({ lastThought }: SendingRules) {
    this.#lastThought = lastThought;
  }

  /** Adds the next editable block. */
  add(index: number, rule: SendingRule): void {
    const because = reasonFor(rule, index < this.#lastThought);
    if (because === this.#because) {
      this.#last[1] = index;
      return;
    }
    this.#because = because;
    this.#last = [index, index];
    const spans = this.#spans.get(because);
    if (spans === undefined) this.#spans.set(because, { rule, list: [this.#last] });
    else spans.list.push(this.#last);
  }

  list(): readonly BlockGroup[] {
    return Array.from(this.#spans, ([because, { rule, list }]) => ({
      blocks: list.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', '),
      sent: SENT[rule],
      because,
    }));
  }
}

function reasonFor(rule: SendingRule, isBefore: boolean): string {
  if (rule === 'as-sent')
    return isBefore
      ? 'a signed thought depends on what was sent'
      : 'it was sent this way before, and a signed thought may depend on it';
  if (rule === 'raw')
    return isBefore
      ? 'a signed thought depends on its unchanged text'
      : 'compression.remember is off, so it could not be repeated later';
  return isBefore
    ? 'an older version of svc sent it, whose result is reproduced'
    : 'no signed thought depends on it yet';
}

/** Returns the edited values, with the tools' values as they were sent before. */
function toolsAsSent(
  { original, edits }: ProxyRequest,
  conversations: Conversations,
): readonly NewValue[] {
  const { tools, isOlder, pin } = conversations.memoryOf({ original }).record;
  const isEdited = edits.values.some(isToolEdit);
  if (!isEdited && tools.size === 0) return edits.values;
  const written = tools.get(toolsKey(original));
  // An older version trimmed the tools without recording it.
  if (written === undefined && isEdited && isOlder && pin?.tools === 'trim') return edits.values;
  if (written !== undefined && written === JSON.stringify(edits.values.filter(isToolEdit)))
    return edits.values;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `noteSent`
  const before = written === undefined ? [] : (JSON.parse(written) as NewValue[]);
  return [...edits.values.filter((value) => !isToolEdit(value)), ...before];
}
