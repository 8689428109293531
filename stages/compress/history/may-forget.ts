/**
 * Whether the provider may let go of what a conversation sent: then nothing that goes out
 * later may be understood only with it.
 */
import { isObject } from '../../dialect/json-kind.ts';

/** Edits that touch neither what tools returned nor the conversation's text. */
const HARMLESS_EDIT = /^clear_thinking/;
/** Set, each says by itself that the provider keeps the history or sums it up. */
const MEMBERS = ['previous_response_id', 'conversation', 'thread', 'compaction'];

/**
 * True if a request body says so, in any dialect: context edits, an order to sum up, a history that the provider keeps
 * (a response, a conversation, a thread), truncation, or what a compaction left.
 */
export function mayForget(body: unknown): boolean {
  if (!isObject(body)) return false;
  return (
    edits(body['context_management']).some(isForgetting) ||
    MEMBERS.some((name) => isSet(body[name])) ||
    (isSet(body['truncation']) && body['truncation'] !== 'disabled') ||
    holdsCompaction(body['messages']) ||
    holdsCompaction(body['input'])
  );
}

/** `{edits: [...]}` in the messages dialect, a list in the responses dialect; whatever else is there counts as one edit. */
function edits(management: unknown): readonly unknown[] {
  if (!isSet(management)) return [];
  if (Array.isArray(management)) return management;
  const listed = isObject(management) ? management['edits'] : undefined;
  return Array.isArray(listed) ? listed : [management];
}

function isForgetting(edit: unknown): boolean {
  const type = isObject(edit) ? edit['type'] : undefined;
  return typeof type !== 'string' || !HARMLESS_EDIT.test(type);
}

/** What stands before a compaction the provider no longer reads. */
function holdsCompaction(items: unknown): boolean {
  if (!Array.isArray(items)) return false;
  return items.some((item: unknown) => {
    if (!isObject(item)) return false;
    const { type, content } = item;
    return isCompaction(type) || (Array.isArray(content) && content.some(hasCompactionType));
  });
}

const hasCompactionType = (part: unknown): boolean => isObject(part) && isCompaction(part['type']);

const isCompaction = (type: unknown): boolean =>
  typeof type === 'string' && /^(?:compact|context_compact)/.test(type);

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
