/** Makes a canonical request ready for one dialect: what every writer would otherwise do for itself. */
import type {
  CanonicalBlock,
  CanonicalMessage,
  CanonicalRequest,
  Note,
  TranslatableDialect,
} from './canonical.ts';
import type { DialectTranslation } from './translate-dialect.ts';
import { droppedParts } from './translate-dropped.ts';
import { cannotCarry } from './translate-errors.ts';
import { toolIdFor, toolNameFor } from './translate-ids.ts';

/**
 * The request without foreign thinking and empty blocks, with ids and tool names that
 * `to` accepts, neighbours of one role merged and, where `to` wants it, all instructions
 * in front. Throws `unprocessable` if nothing is left to send, or a tool to be called.
 */
export function prepareRequest(request: CanonicalRequest, to: DialectTranslation, note: Note) {
  checkChoice(request);
  const { rename, toolNames } = renaming(request, to, note);
  const kept = withoutForeignThinking(request.messages, to, note).map((message) => ({
    ...message,
    blocks: message.blocks.map((block) => accepted(block, to, rename)).filter(hasContent),
  }));
  const filled = kept.filter((message) => message.blocks.length > 0);
  const hoisted = to.midSystem ? [] : filled.filter((message) => message.role === 'system');
  if (hoisted.length > 0) {
    note(droppedParts.middle);
  }
  const rest = to.midSystem ? filled : filled.filter((message) => message.role !== 'system');
  const messages = mergeNeighbours(rest);
  if (messages.length === 0) throw cannotCarry('a request without a message');
  const system = [...request.system, ...hoisted.flatMap(textsOf)];
  return { request: { ...withNames(request, rename), system, messages }, toolNames };
}

/** A tool that was left out cannot be demanded. */
function checkChoice({ tools, toolChoice }: CanonicalRequest): void {
  if (toolChoice?.mode !== 'any') return;
  const names = new Set(tools.map((tool) => tool.name));
  const missing = toolChoice.only?.some((name) => !names.has(name)) ?? false;
  if (missing || tools.length === 0) throw cannotCarry('a demand for a tool that it does not get');
}

interface Renaming {
  readonly rename: (name: string) => string;
  readonly toolNames: { readonly [sent: string]: string };
}

/** Names that `to` refuses are replaced for the whole conversation, and given back in the answer. */
function renaming(request: CanonicalRequest, to: DialectTranslation, note: Note): Renaming {
  const called = request.messages.flatMap((message) =>
    message.blocks.flatMap((block) => (block.kind === 'toolUse' ? block.name : [])),
  );
  const sent = new Map<string, string>();
  for (const name of [...request.tools.map((tool) => tool.name), ...called]) {
    const other = toolNameFor(to.toolName, name);
    if (other === name || sent.has(name)) continue;
    sent.set(name, other);
    note(`tool ${name.slice(0, 80)} is called ${other} there`);
  }
  return {
    rename: (name) => sent.get(name) ?? name,
    toolNames: Object.fromEntries([...sent].map(([name, other]) => [other, name])),
  };
}

function withNames(request: CanonicalRequest, rename: Renaming['rename']): CanonicalRequest {
  const tools = request.tools.map((tool) => ({ ...tool, name: rename(tool.name) }));
  const { toolChoice } = request;
  if (toolChoice?.only === undefined) return { ...request, tools };
  return { ...request, tools, toolChoice: { ...toolChoice, only: toolChoice.only.map(rename) } };
}

/** Thinking is signed by its provider or meant for it alone: to anyone else it is noise, or an error. */
function withoutForeignThinking(
  messages: readonly CanonicalMessage[],
  to: DialectTranslation,
  note: Note,
): CanonicalMessage[] {
  const isOwn = (block: CanonicalBlock): boolean => !isForeign(block, to.name);
  if (!messages.every((message) => message.blocks.every(isOwn))) {
    note(droppedParts.thinking);
  }
  return messages.map(({ role, blocks }) => ({ role, blocks: blocks.filter(isOwn) }));
}

/** True for thinking that another dialect's provider made. */
export function isForeign(block: CanonicalBlock, dialect: TranslatableDialect): boolean {
  const isThinking = block.kind === 'thinking' || block.kind === 'redactedThinking';
  return isThinking && block.provider !== dialect;
}

function accepted(
  block: CanonicalBlock,
  to: DialectTranslation,
  rename: Renaming['rename'],
): CanonicalBlock {
  if (block.kind === 'toolUse') {
    return { ...block, id: toolIdFor(to.name, block.id), name: rename(block.name) };
  }
  if (block.kind !== 'toolResult') return block;
  return { ...block, toolUseId: toolIdFor(to.name, block.toolUseId) };
}

/** Empty text is refused by some dialects and says nothing in the others. */
export function hasContent(block: CanonicalBlock): boolean {
  return (block.kind !== 'text' && block.kind !== 'refusal') || block.text !== '';
}

/** The texts of a message that holds instructions. */
export function textsOf(message: CanonicalMessage): string[] {
  return message.blocks.flatMap((block) => (block.kind === 'text' ? block.text : []));
}

/** Results of parallel calls belong into one message; dialects with a message for each split them again. */
function mergeNeighbours(messages: readonly CanonicalMessage[]): CanonicalMessage[] {
  const merged: { readonly role: CanonicalMessage['role']; readonly blocks: CanonicalBlock[] }[] =
    [];
  for (const { role, blocks } of messages) {
    const last = merged.at(-1);
    if (last?.role !== role) {
      merged.push({ role, blocks: [...blocks] });
      continue;
    }
    // One by one: a copy for each neighbour costs the square of their number.
    for (const block of blocks) last.blocks.push(block);
  }
  return merged;
}

/** For dialects whose tool results cannot be marked as errors. */
export function noteErrorMarks(request: CanonicalRequest, note: Note): void {
  const failed = request.messages.some((message) =>
    message.blocks.some((block) => block.kind === 'toolResult' && block.isError),
  );
  if (failed) note(droppedParts.errorMark);
}
