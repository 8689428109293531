/** Judges a session of another tool's bodies by the promises of svc. */
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { isThought, signsThoughts } from '../../stages/conversations/standing.ts';
import type { Block } from '../../stages/model/block.ts';
import { stringOf } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { decodedText } from '../../stages/compress/decode/kept-lines.ts';
import { asRequest } from '../sessions/as-request.ts';
import { goesOn, itemHashes } from '../sessions/goes-on.ts';
import { itemsIn, itemsMember } from '../sessions/session.ts';
import type { Conversation } from '../sessions/session.ts';
import { failureLines, formOf, shown } from './failures.ts';
import { comparableLines, isSameJson, writtenLines } from './lines.ts';
import type { PairedSession } from './pairs-folder.ts';
import { createQuotes } from './quotes.ts';
import type { Broken, Checked } from './session.ts';
import { createSimulation } from './simulated-usage.ts';
import type { SimulatedUsage } from './simulated-usage.ts';

/** A request before and after the tool. */
interface Turn {
  readonly items: number;
  readonly hashes: readonly string[];
  readonly params: JsonObject;
  readonly before: readonly Block[];
  readonly after: readonly Block[];
  readonly afterParams: JsonObject;
  readonly signs: boolean;
}

export interface CheckedPairs {
  readonly checked: Checked;
  /** The bodies as the client sent them, for pricing. */
  readonly conversation: Conversation;
  readonly usages: readonly SimulatedUsage[];
}

export function checkPairs(session: PairedSession, count: CountTokens): CheckedPairs {
  const { dialect, tool, name, pairs, claimedTokens } = session;
  const turns = pairs.map(({ before, after }): Turn => {
    const items = itemsIn(dialect, before);
    const { [itemsMember(dialect)]: _before, ...params } = before;
    const { [itemsMember(dialect)]: _after, ...afterParams } = after;
    const asked = asRequest(dialect, before).original;
    return {
      items: items.length,
      hashes: itemHashes(items),
      params,
      afterParams,
      before: asked.blocks(),
      after: asRequest(dialect, after).original.blocks(),
      signs: signsThoughts(asked),
    };
  });
  const broken: Broken[] = [];
  const simulate = createSimulation(count);
  const usages: SimulatedUsage[] = [];
  const sums = { quoted: 0, failureLines: 0, thoughts: 0, changedBlocks: 0, recountedTokens: 0 };
  const size = createSizes(count);
  for (const [at, turn] of turns.entries()) {
    const note = (check: Broken['check'], block: number, line: string): void => {
      broken.push({ check, session: name, turn: at + 1, block: block + 1, line });
    };
    const next = turns[at + 1];
    const isFollowed = next !== undefined && goesOn(turn.hashes, next.hashes);
    const read = readIn(turn.after);
    if (isFollowed) {
      checkPrefix(turn, next, note);
      for (const { line, block } of createQuotes(next.before).of(turn.items)) {
        sums.quoted += 1;
        if (!read.has(line, turn.before[block]?.text ?? '')) note('retention', block, line);
      }
    }
    const known = at > 0 && goesOn(turns[at - 1]!.hashes, turn.hashes) ? turns[at - 1]!.items : 0;
    for (const block of turn.before) {
      // A result is checked when it is new, and again in the last request of its conversation.
      if (block.kind !== 'tool_result' || (block.message < known && isFollowed)) continue;
      const lines = failureLines(block.text);
      sums.failureLines += lines.length;
      for (const line of lines)
        if (!read.says(line.line, formOf(line), block.text))
          note('failures', block.index, line.line);
    }
    if (turn.signs) sums.thoughts += checkThoughts(turn, note);
    const texts = (blocks: readonly Block[]) => blocks.map(({ text }) => text);
    const front = JSON.stringify(turn.params);
    const afterFront = JSON.stringify(turn.afterParams);
    const model = stringOf(turn.params['model']) ?? null;
    usages.push(
      simulate({
        model,
        before: { front, texts: texts(turn.before) },
        after: { front: afterFront, texts: texts(turn.after) },
      }),
    );
    const sizeOf = (one: string, blocks: readonly Block[]) =>
      texts(blocks).reduce((sum, text) => sum + size(text), size(one));
    sums.recountedTokens += sizeOf(front, turn.before) - sizeOf(afterFront, turn.after);
    const sent = new Set(texts(turn.after));
    if (!isFollowed)
      sums.changedBlocks += texts(turn.before).filter((one) => !sent.has(one)).length;
  }
  return {
    checked: { ...sums, turns: turns.length, fromNothing: 0, cold: 0, claimedTokens, broken },
    usages,
    conversation: {
      client: tool,
      sessionId: name,
      dialect,
      params: turns.at(-1)!.params,
      items: [],
      requests: turns.map(({ items, params }) => ({
        items,
        atMs: null,
        model: stringOf(params['model']) ?? null,
        usage: null,
      })),
    },
  };
}

type NoteIn = (check: Broken['check'], block: number, line: string) => void;

/** Checks that the next request begins with what was sent, tools included unless the client changed them. */
function checkPrefix(turn: Turn, next: Turn, note: NoteIn): void {
  const changed = turn.after.findIndex(({ text, kind }, at) => {
    const now = next.after[at];
    return now === undefined || now.text !== text || now.kind !== kind;
  });
  if (changed >= 0) note('prefix', changed, 'goes out with other bytes in the next turn');
  const tools = ({ tools: one }: JsonObject): string => JSON.stringify(one) ?? '';
  if (
    tools(turn.params) === tools(next.params) &&
    tools(turn.afterParams) !== tools(next.afterParams)
  )
    note('prefix', 0, 'the tools go out with other bytes in the next turn');
}

/** Counts thinking blocks and checks that each is sent unchanged; what precedes them is checked with the prefix. */
function checkThoughts({ before, after }: Turn, note: NoteIn): number {
  const sent = new Set(after.filter(isThought).map(({ text }) => text));
  const thoughts = before.filter(isThought);
  for (const { text, index } of thoughts)
    if (!sent.has(text)) note('prefix', index, 'a thought does not go out as it came');
  return thoughts.length;
}

/** Returns what is readable in the sent blocks: verbatim, as equal JSON, or after decoding svc's own formats. */
function readIn(blocks: readonly Block[]) {
  const texts = blocks.map(({ text }) => decodedText(text));
  const written = blocks.filter((one) => one.role === 'assistant' && !isThought(one));
  const lines = new Set([...texts.flatMap(comparableLines), ...written.flatMap(writtenLines)]);
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

const shownText = (text: string): string => text.split('\n').map(shown).join('\n');

function createSizes(count: CountTokens): (text: string) => number {
  const sizes = new Map<string, number>();
  return (text) => {
    const tokens = sizes.get(text) ?? count(text);
    sizes.set(text, tokens);
    return tokens;
  };
}
