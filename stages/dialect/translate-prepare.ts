/** Makes a canonical request ready for one dialect: what every writer would otherwise do for itself. */
import type { CanonicalBlock, CanonicalMessage, CanonicalRequest, Note } from './canonical.ts';
import type { DialectTranslation } from './translate-dialect.ts';
import { cannotCarry } from './translate-errors.ts';
import { toolIdFor } from './translate-ids.ts';

/**
 * The request without foreign thinking and empty blocks, with ids that `to` accepts,
 * neighbours of one role merged and, where `to` wants it, all instructions in front.
 * Throws `unprocessable` for tool names that `to` refuses and if nothing is left to send.
 */
export function prepareRequest(
  request: CanonicalRequest,
  to: DialectTranslation,
  note: Note,
): CanonicalRequest {
  checkToolNames(request, to);
  const kept = withoutForeignThinking(request.messages, to, note).map((message) => ({
    ...message,
    blocks: message.blocks.map((block) => withAcceptedId(block, to)).filter(saysSomething),
  }));
  const filled = kept.filter((message) => message.blocks.length > 0);
  const hoisted = to.midSystem ? [] : filled.filter((message) => message.role === 'system');
  if (hoisted.length > 0) {
    note('instructions from the middle of the conversation moved to its front');
  }
  const rest = to.midSystem ? filled : filled.filter((message) => message.role !== 'system');
  const messages = mergeNeighbours(rest);
  if (messages.length === 0) throw cannotCarry('a request without a message');
  return { ...request, system: [...request.system, ...hoisted.flatMap(textsOf)], messages };
}

function checkToolNames(request: CanonicalRequest, to: DialectTranslation): void {
  const called = request.messages.flatMap((message) =>
    message.blocks.flatMap((block) => (block.kind === 'toolUse' ? block.name : [])),
  );
  for (const name of [...request.tools.map((tool) => tool.name), ...called]) {
    if (!to.toolName.test(name)) {
      throw cannotCarry(`a tool name that ${to.name} refuses: ${name.slice(0, 80)}`);
    }
  }
}

/** Thinking is signed by its provider or meant for it alone: to anyone else it is noise, or an error. */
function withoutForeignThinking(
  messages: readonly CanonicalMessage[],
  to: DialectTranslation,
  note: Note,
): CanonicalMessage[] {
  const isForeign = (block: CanonicalBlock): boolean =>
    (block.kind === 'thinking' || block.kind === 'redactedThinking') && block.provider !== to.name;
  if (messages.some((message) => message.blocks.some(isForeign))) {
    note('thinking left out: only its own provider reads it');
  }
  return messages.map(({ role, blocks }) => ({
    role,
    blocks: blocks.filter((block) => !isForeign(block)),
  }));
}

function withAcceptedId(block: CanonicalBlock, to: DialectTranslation): CanonicalBlock {
  if (block.kind === 'toolUse') return { ...block, id: toolIdFor(to.name, block.id) };
  if (block.kind !== 'toolResult') return block;
  return { ...block, toolUseId: toolIdFor(to.name, block.toolUseId) };
}

/** Empty text is refused by some dialects and says nothing in the others. */
function saysSomething(block: CanonicalBlock): boolean {
  return (block.kind !== 'text' && block.kind !== 'refusal') || block.text !== '';
}

function textsOf(message: CanonicalMessage): string[] {
  return message.blocks.flatMap((block) => (block.kind === 'text' ? block.text : []));
}

/** Results of parallel calls belong into one message; dialects with a message for each split them again. */
function mergeNeighbours(messages: readonly CanonicalMessage[]): CanonicalMessage[] {
  const merged: CanonicalMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === message.role) {
      merged[merged.length - 1] = { ...last, blocks: [...last.blocks, ...message.blocks] };
    } else {
      merged.push(message);
    }
  }
  return merged;
}

/** For dialects whose tool results cannot be marked as errors. */
export function noteErrorMarks(request: CanonicalRequest, note: Note): void {
  const failed = request.messages.some((message) =>
    message.blocks.some((block) => block.kind === 'toolResult' && block.isError),
  );
  if (failed) note('the error mark of a tool result left out: its text says it');
}
