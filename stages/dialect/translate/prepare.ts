/** Prepares a canonical request for one dialect: the steps that all writers have in common. */
import type {
  CanonicalBlock,
  CanonicalMessage,
  CanonicalRequest,
  Note,
  TranslatableDialect,
} from '../canonical.ts';
import type { ConversationMarks } from '../call-marks.ts';
import type { DialectTranslation, SystemPlace } from './dialect.ts';
import { withAnswerImages } from './answer-image.ts';
import { droppedParts } from './dropped-fields.ts';
import { cannotCarry } from './errors.ts';
import { wrapFreeform } from './freeform.ts';
import { toolIdFor, toolNameFor } from './ids.ts';
import { parseArguments } from '../exact-json.ts';
import { markedInstructions } from '../marked-instructions.ts';

export interface PrepareContext {
  readonly note: Note;
  readonly marks: ConversationMarks;
  /** Where instructions may be placed in the conversation. */
  readonly place: SystemPlace;
}

/**
 * Returns the request without foreign thinking and empty blocks, with unique ids and tool names
 * that `to` accepts, neighbours of one role merged, and instructions in an allowed form and place.
 * Throws `unprocessable` if nothing is left to send, or if a forced tool is missing.
 */
export function prepareRequest(
  request: CanonicalRequest,
  to: DialectTranslation,
  { note, marks, place }: PrepareContext,
) {
  checkChoice(request);
  const { rename, toolNames } = renaming(request, to, note);
  const shown = withAnswerImages(request.messages, to.name, note);
  const marked = withMarks(shown, to.name, marks);
  const whole = withUniqueIds(takesObjects(to.name) ? withWholeCalls(marked, note) : marked);
  const ownBlocks = withoutForeignThinking(whole, to, note).map((message) => ({
    ...message,
    blocks: message.blocks.map((block) => withTargetIds(block, to, rename)).filter(hasContent),
  }));
  const filled = ownBlocks.filter((message) => message.blocks.length > 0);
  const leading = filled.findIndex((message) => message.role !== 'system');
  const first = filled.slice(0, leading < 0 ? filled.length : leading);
  const placed = placeSystem(mergeNeighbours(filled.slice(first.length)), place, note);
  const messages = mergeNeighbours(placed);
  if (messages.length === 0) throw cannotCarry('a request without a message');
  const system = [...request.system, ...first.flatMap(textsOf)];
  return { request: { ...withNames(request, rename), system, messages }, toolNames };
}

/** A tool that was left out cannot be forced. */
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

/** Names that `to` refuses are replaced for the whole conversation, and restored in the answer. */
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

/**
 * Thinking is signed by its provider or only readable to it: for any other provider it is noise, or
 * an error.
 */
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

/**
 * Keeps instructions in place: as messages of their own if the model accepts them there, else as
 * marked user text. Moved to the front they would change the beginning of every later request, and
 * take effect too early.
 */
function placeSystem(
  messages: readonly CanonicalMessage[],
  place: SystemPlace,
  note: Note,
): CanonicalMessage[] {
  if (place === 'anywhere') return [...messages];
  return messages.map((message, at) => {
    if (message.role !== 'system') return message;
    const isAfterUser = messages[at - 1]?.role === 'user' && messages[at + 1]?.role !== 'user';
    if (place === 'after user' && isAfterUser) return message;
    note(droppedParts.middle);
    const blocks = textsOf(message).map(toMarkedText);
    return { role: 'user', blocks };
  });
}

function toMarkedText(text: string): CanonicalBlock {
  return { kind: 'text', text: markedInstructions(text) };
}

/** Returns true for dialects whose calls contain an object. */
function takesObjects(dialect: TranslatableDialect): boolean {
  return dialect === 'messages' || dialect === 'generative';
}

/**
 * Repairs calls whose arguments are not a JSON object, as in a model's truncated output: if the
 * call was answered, its text becomes an argument; if not, the call is left out.
 */
function withWholeCalls(messages: readonly CanonicalMessage[], note: Note): CanonicalMessage[] {
  const answered = new Set(
    messages.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.kind === 'toolResult' ? block.toolUseId : [])),
    ),
  );
  const whole = (block: CanonicalBlock): CanonicalBlock | [] => {
    if (block.kind !== 'toolUse' || parseArguments(block.input) !== undefined) return block;
    if (!answered.has(block.id)) {
      note(droppedParts.unansweredCall);
      return [];
    }
    note(droppedParts.brokenCall);
    return { ...block, input: wrapFreeform(block.input) };
  };
  return messages.map(({ role, blocks }) => ({ role, blocks: blocks.flatMap(whole) }));
}

/**
 * Gives the calls of a conversation unique ids: some servers use the same first ids in every turn,
 * and others refuse duplicates. A result belongs to the first call with its id that has none yet.
 */
function withUniqueIds(messages: readonly CanonicalMessage[]): CanonicalMessage[] {
  const count = new Map<string, number>();
  const open = new Map<string, string[]>();
  const last = new Map<string, string>();
  const unique = (block: CanonicalBlock): CanonicalBlock => {
    if (block.kind === 'toolUse') {
      const times = (count.get(block.id) ?? 0) + 1;
      const id = times === 1 ? block.id : `${block.id}~${times}`;
      count.set(block.id, times);
      last.set(block.id, id);
      open.set(block.id, [...(open.get(block.id) ?? []), id]);
      return times === 1 ? block : { ...block, id };
    }
    if (block.kind !== 'toolResult') return block;
    const { toolUseId } = block;
    const id = open.get(toolUseId)?.shift() ?? last.get(toolUseId) ?? toolUseId;
    return id === toolUseId ? block : { ...block, toolUseId: id };
  };
  return messages.map(({ role, blocks }) => ({ role, blocks: blocks.map(unique) }));
}

/** Adds what `provider` requires back with its calls, which the client does not have. */
function withMarks(
  messages: readonly CanonicalMessage[],
  provider: TranslatableDialect,
  marks: ConversationMarks,
): CanonicalMessage[] {
  const marked = (block: CanonicalBlock): CanonicalBlock => {
    if (block.kind !== 'toolUse' || block.mark?.provider === provider) return block;
    const value = marks.get(provider, block);
    return value === undefined ? block : { ...block, mark: { provider, value } };
  };
  return messages.map(({ role, blocks }) => ({ role, blocks: blocks.map(marked) }));
}

/** Returns true for thinking made by another dialect's provider. */
export function isForeign(block: CanonicalBlock, dialect: TranslatableDialect): boolean {
  const isThinking = block.kind === 'thinking' || block.kind === 'redactedThinking';
  return isThinking && block.provider !== dialect;
}

function withTargetIds(
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

/** Empty text is refused by some dialects and meaningless in the others. */
export function hasContent(block: CanonicalBlock): boolean {
  return (block.kind !== 'text' && block.kind !== 'refusal') || block.text !== '';
}

/** Returns the texts of a message with instructions. */
export function textsOf(message: CanonicalMessage): string[] {
  return message.blocks.flatMap((block) => (block.kind === 'text' ? block.text : []));
}

/**
 * Results of parallel calls belong in one message; dialects with a message for each split them
 * again.
 */
function mergeNeighbours(messages: readonly CanonicalMessage[]): CanonicalMessage[] {
  const merged: { readonly role: CanonicalMessage['role']; readonly blocks: CanonicalBlock[] }[] =
    [];
  for (const { role, blocks } of messages) {
    const last = merged.at(-1);
    if (last?.role !== role) {
      merged.push({ role, blocks: [...blocks] });
      continue;
    }
    // One by one: copying for each neighbour would take quadratic time.
    for (const block of blocks) last.blocks.push(block);
  }
  return merged;
}

/** Notes lost error marks, for dialects whose tool results cannot have one. */
export function noteErrorMarks(request: CanonicalRequest, note: Note): void {
  const failed = request.messages.some((message) =>
    message.blocks.some((block) => block.kind === 'toolResult' && block.isError),
  );
  if (failed) note(droppedParts.errorMark);
}
