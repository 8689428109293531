/**
 * Whether the provider may drop parts of the conversation: if so, nothing sent later may depend on
 * them.
 */
import { isObject } from '../../dialect/json-kind.ts';

/** Edits that touch neither tool results nor the conversation's text. */
const HARMLESS_EDIT = /^clear_thinking/;
/** Members any of which, if set, means that the provider keeps or summarizes the history. */
const HISTORY_MEMBERS = ['previous_response_id', 'conversation', 'thread', 'compaction'];

/**
 * Returns true if a request body says so, in any dialect: context edits, an order to summarize, a
 * history kept by the provider (a response, a conversation, a thread), truncation, or the result of
 * a compaction.
 */
export function mayForget(body: unknown): boolean {
  if (!isObject(body)) return false;
  return (
    edits(body['context_management']).some(maySkipHistory) ||
    HISTORY_MEMBERS.some((name) => isSet(body[name])) ||
    (isSet(body['truncation']) && body['truncation'] !== 'disabled') ||
    holdsCompaction(body['messages']) ||
    holdsCompaction(body['input'])
  );
}

/**
 * Lists the edits: `{edits}` in the messages dialect, a list in the responses dialect; anything
 * else is one edit.
 */
function edits(management: unknown): readonly unknown[] {
  if (!isSet(management)) return [];
  if (Array.isArray(management)) return management;
  const listed = isObject(management) ? management['edits'] : undefined;
  return Array.isArray(listed) ? listed : [management];
}

function maySkipHistory(edit: unknown): boolean {
  const type = isObject(edit) ? edit['type'] : undefined;
  return typeof type !== 'string' || !HARMLESS_EDIT.test(type);
}

/** Returns true if the items hold a compaction: the provider no longer reads what precedes it. */
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
  typeof type === 'string' && (type.startsWith('compact') || type.startsWith('context_compact'));

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
