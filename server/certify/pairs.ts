/** Judges a session of another tool's bodies by the promises of svc. */
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { isThought, signsThoughts } from '../../stages/conversations/sending-rules.ts';
import type { Block } from '../../stages/model/block.ts';
import { stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { decodedText } from '../../stages/compress/decode/kept-lines.ts';
import { asRequest } from '../sessions/as-request.ts';
import { continues, itemHashes } from '../sessions/conversation-prefix.ts';
import { itemsIn, itemsMember } from '../sessions/session.ts';
import type { Conversation } from '../sessions/session.ts';
import { failureLines, formOf, withoutColours } from './failures.ts';
import { normalizedLines, isSameJson, writtenLines } from './lines.ts';
import type { PairedSession } from './pairs-folder.ts';
import { createQuotes } from './quotes.ts';
import type { BrokenPromise, CheckedCounts } from './session.ts';
import { createSimulation } from './simulated-usage.ts';
import type { SimulatedUsage } from './simulated-usage.ts';

/** A body as the client sent it, or as the tool would. */
interface Side {
  readonly params: JsonObject;
  /** What precedes all blocks, as JSON. */
  readonly front: string;
  readonly blocks: readonly Block[];
  readonly texts: readonly string[];
}

/** A request before and after the tool. */
interface Turn {
  readonly items: number;
  readonly hashes: readonly string[];
  readonly model: string | null;
  readonly before: Side;
  readonly after: Side;
  readonly signs: boolean;
}

export interface CheckedPairs {
  readonly checked: CheckedCounts;
  /** The bodies as the client sent them, for pricing. */
  readonly conversation: Conversation;
  readonly usages: readonly SimulatedUsage[];
}

/**
 * Checks every pair of a session by the promises of svc, and prices it with a simulated prompt
 * cache.
 */
export function checkPairs(session: PairedSession, count: CountTokens): CheckedPairs {
  const { dialect, name, pairs, claimedTokens } = session;
  const turns = pairs.map((pair) => toTurn(dialect, pair));
  const broken: BrokenPromise[] = [];
  const simulate = createSimulation(count);
  const usages: SimulatedUsage[] = [];
  const sums = { quoted: 0, failureLines: 0, thoughts: 0, changedBlocks: 0, recountedTokens: 0 };
  const size = createSizes(count);
  const sizeOf = ({ front, texts }: Side) =>
    texts.reduce((sum, text) => sum + size(text), size(front));
  for (const [index, turn] of turns.entries()) {
    const report: ReportBroken = (check, block, line) => {
      broken.push({ check, session: name, turn: index + 1, block: block + 1, line });
    };
    const { before, after } = turn;
    const next = turns[index + 1];
    const isFollowed = next !== undefined && continues(turn.hashes, next.hashes);
    const read = readIn(after.blocks);
    if (isFollowed) {
      checkPrefix(turn, next, report);
      sums.quoted += checkQuotes(turn, next, read, report);
    }
    const earlier = turns[index - 1];
    const known =
      earlier !== undefined && continues(earlier.hashes, turn.hashes) ? earlier.items : 0;
    // A result is checked when it is new, and again in the last request of its conversation.
    const due = before.blocks.filter(({ message }) => message >= known || !isFollowed);
    sums.failureLines += checkFailures(due, read, report);
    if (turn.signs) sums.thoughts += checkThoughts(turn, report);
    usages.push(simulate({ model: turn.model, before, after }));
    sums.recountedTokens += sizeOf(before) - sizeOf(after);
    const sent = new Set(after.texts);
    if (!isFollowed) sums.changedBlocks += before.texts.filter((text) => !sent.has(text)).length;
  }
  return {
    checked: {
      ...sums,
      turns: turns.length,
      fromNothing: 0,
      cold: 0,
      claimedTokens,
      broken,
    },
    usages,
    conversation: conversationOf(session, turns),
  };
}

function toTurn(
  dialect: PairedSession['dialect'],
  { before, after }: PairedSession['pairs'][number],
) {
  const items = itemsIn(dialect, before);
  const sideOf = (body: JsonObject, blocks: readonly Block[]): Side => {
    const { [itemsMember(dialect)]: _items, ...params } = body;
    const texts = blocks.map(({ text }) => text);
    return { params, front: JSON.stringify(params), blocks, texts };
  };
  const original = asRequest(dialect, before).original;
  return {
    items: items.length,
    hashes: itemHashes(items),
    model: stringOf(before['model']) ?? null,
    before: sideOf(before, original.blocks()),
    after: sideOf(after, asRequest(dialect, after).original.blocks()),
    signs: signsThoughts(original),
  };
}

function conversationOf(
  { tool, name, dialect }: PairedSession,
  turns: readonly Turn[],
): Conversation {
  return {
    client: tool,
    sessionId: name,
    dialect,
    params: turns.at(-1)!.before.params,
    items: [],
    requests: turns.map(({ items, model }) => ({ items, atMs: null, model, usage: null })),
  };
}

type ReportBroken = (check: BrokenPromise['check'], block: number, line: string) => void;

/** Counts lines that the model wrote again in the next turn, and checks that each was readable. */
function checkQuotes(turn: Turn, next: Turn, read: Readable, report: ReportBroken): number {
  const quotes = [...createQuotes(next.before.blocks).of(turn.items)];
  for (const { line, block } of quotes)
    if (!read.has(line, turn.before.texts[block] ?? '')) report('retention', block, line);
  return quotes.length;
}

/** Counts lines of results that report failures, and checks that each was sent unchanged. */
function checkFailures(blocks: readonly Block[], read: Readable, report: ReportBroken): number {
  let found = 0;
  for (const { kind, index, text } of blocks) {
    if (kind !== 'tool_result') continue;
    const lines = failureLines(text);
    found += lines.length;
    for (const line of lines)
      if (!read.says(line.line, formOf(line), text)) report('failures', index, line.line);
  }
  return found;
}

/**
 * Checks that the next request begins with what was sent, tools included unless the client changed
 * them.
 */
function checkPrefix(turn: Turn, next: Turn, report: ReportBroken): void {
  const changed = turn.after.blocks.findIndex(({ text, kind }, index) => {
    const now = next.after.blocks[index];
    return now === undefined || now.text !== text || now.kind !== kind;
  });
  if (changed >= 0) report('prefix', changed, 'was sent with other bytes in the next turn');
  const tools = ({ tools: one }: JsonObject): string => JSON.stringify(one) ?? '';
  if (
    tools(turn.before.params) === tools(next.before.params) &&
    tools(turn.after.params) !== tools(next.after.params)
  )
    report('prefix', 0, 'the tools were sent with other bytes in the next turn');
}

/**
 * Counts thinking blocks and checks that each is sent unchanged; what precedes them is checked with
 * the prefix.
 */
function checkThoughts({ before, after }: Turn, report: ReportBroken): number {
  const sent = new Set(after.blocks.filter(isThought).map(({ text }) => text));
  const thoughts = before.blocks.filter(isThought);
  for (const { text, index } of thoughts)
    if (!sent.has(text)) report('prefix', index, 'a thinking block was changed or left out');
  return thoughts.length;
}

type Readable = ReturnType<typeof readIn>;

/**
 * Returns what is readable in the sent blocks: verbatim, as equal JSON, or after decoding svc's own
 * formats.
 */
function readIn(blocks: readonly Block[]) {
  const texts = blocks.map(({ text }) => decodedText(text));
  const written = blocks.filter((block) => block.role === 'assistant' && !isThought(block));
  const lines = new Set([...texts.flatMap(normalizedLines), ...written.flatMap(writtenLines)]);
  const whole = texts.map(shownText).join('\n');
  const forms = new Set(failureLines(whole).map(formOf));
  const isWhole = (source: string): boolean => texts.some((text) => isSameJson(source, text));
  return {
    has: (line: string, source: string): boolean =>
      lines.has(line) || whole.includes(line) || isWhole(source),
    says: (line: string, form: string, source: string): boolean =>
      whole.includes(line) || forms.has(form) || isWhole(source),
  };
}

const shownText = (text: string): string => text.split('\n').map(withoutColours).join('\n');

function createSizes(count: CountTokens): (text: string) => number {
  const sizes = new Map<string, number>();
  return (text) => {
    const tokens = sizes.get(text) ?? count(text);
    sizes.set(text, tokens);
    return tokens;
  };
}
