/**
 * References between texts of every pair of classes: a tool's output, and a later result that
 * repeats a part of it between lines of its own. Each reference is parsed by its wording alone and
 * looked up in the received texts: the name must be that of the file, command or tool, the lines
 * must be the original's, and the referring block must have had them in that place. If lines of the
 * original were left out, lines are counted as a reader counts what was sent.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom, randomInt, type Random } from '../../../fixtures/random.ts';
import { MAKERS, hash, type ToolOutput } from '../../../fixtures/compress/class-texts.ts';
import { loadCodeTools } from '../../../fixtures/compress/texts.ts';
import { TEXT_CLASSES, type TextClass } from '../../model/classify/classes.ts';
import { compressConversation, type BlockOutcome } from '../pass/conversation.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import type { CommentLines, Mode } from '../rules/rule.ts';
import { numbersOfLines } from './reference.ts';

/** Forms in which harnesses send a result. */
const WRAPPED: readonly ((lines: readonly string[]) => string)[] = [
  (body) => body.join('\n'),
  (body) => body.join('\n'),
  (body) => ['<returncode>0</returncode>', '<output>', ...body, '</output>'].join('\n'),
  (body) => body.map((line, at) => `${String(at + 1).padStart(6)}\t${line}`).join('\n'),
  (body) =>
    ['<file>', ...body.map((line, at) => `${String(at + 240).padStart(6)}\t${line}`)].join('\n'),
];

/** Returns a part of the lines: mostly one piece, sometimes two with a line between. */
function partOf(random: Random, from: readonly string[]): readonly string[] {
  const piece = (): readonly string[] => {
    const start = randomInt(random, 0, Math.max(1, from.length - 12));
    return from.slice(start, start + randomInt(random, 10, from.length));
  };
  return random() < 0.6 ? piece() : [...piece(), `between ${hash(random, 8)}`, ...piece()];
}

/**
 * A parsed reference: whose lines, which ones, and how they are numbered; '' if as in the original.
 */
interface Read {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly how: string;
  /** True if the numbers are those printed by a view, not a count. */
  readonly isPrinted: boolean;
}

const HOW = '(|, (?:here )?without numbers|, (?:here )?numbered from " *\\d+\\t")\\]$';
const FULL = new RegExp(`^\\[svc lines? (numbered |)(\\d+)(?:–(\\d+))? (?:of|in) (.+) again${HOW}`);
const NAMED = new RegExp(`^\\[svc (.+), (lines? |numbered )(\\d+)(?:-(\\d+))?${HOW}`);

function readLine(line: string): Read | undefined {
  const full = FULL.exec(line);
  if (full !== null) return readOf(full[4]!, full[1]!, full.slice(2, 4), full[5]);
  const named = NAMED.exec(line);
  return named === null ? undefined : readOf(named[1]!, named[2]!, named.slice(3, 5), named[5]);
}

function readOf(label: string, unit: string, [from, to]: readonly string[], how = ''): Read {
  const isPrinted = unit === 'numbered ';
  return { label, from: Number(from), to: Number(to ?? from), how, isPrinted };
}

/** Returns the range of line indexes that a reference names, end exclusive. */
function rangeIn({ from, to, isPrinted }: Read, there: readonly string[]): [number, number] {
  const start = isPrinted ? there.findIndex((line) => numberOf(line) === from) : from - 1;
  return [start, start + to - from + 1];
}

/** Returns the printed number of a reference's first line; `there` has the original lines. */
function firstNumber(read: Read, there: readonly string[]): number | undefined {
  const { how } = read;
  if (how === '') return numberOf(there[rangeIn(read, there)[0]]);
  const number = /\d+/.exec(how)?.[0];
  return number === undefined ? undefined : Number(number);
}

const NUMBER = /^ *(\d+)\t/;
/** Returns a line without a viewer's number before it and without trailing white space. */
const texts = (line: string): string => line.replace(NUMBER, '').trimEnd();
const numberOf = (line: string | undefined): number | undefined => {
  const found = NUMBER.exec(line ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Returns the index at which a piece occurs in a text, from `start` on; −1 if it does not. */
function find(piece: readonly string[], text: readonly string[], start: number): number {
  for (let at = start; at + piece.length <= text.length; at++)
    if (piece.every((line, offset) => text[at + offset] === line)) return at;
  return -1;
}

/**
 * Rules that change nothing else about the lines, so that references and the rest add up to the
 * text.
 */
const LINE_BY_LINE = new Set(['repeats', 'gutter']);
const AGAIN = /^\[svc the line above (\d+) more times\]$/;
const HEADER = /^\[svc \d+ lines, every fifth numbered\]$/;

/** Lines that rules leave out while the others stay: a reference may stand for some of them too. */
const LEFT_OUT = /^\s*(?:\/\/.*|#.*|--.*|;.*)?$/;

/**
 * Returns the range of `own` in which the seen lines occur, from `start` on, with nothing between
 * them but lines that may be left out; undefined if they do not.
 */
function findSeen(
  seen: readonly string[],
  own: readonly string[],
  start: number,
): readonly [from: number, to: number] | undefined {
  for (let from = start; from < own.length; from++) {
    let at = from;
    const isThere = seen.every((line, nth) => {
      while (nth > 0 && at < own.length && own[at] !== line && LEFT_OUT.test(own[at]!)) at++;
      return own[at++] === line;
    });
    if (isThere) return [from, at];
  }
  return undefined;
}

interface Checked {
  readonly faults: readonly string[];
  readonly references: number;
}

/**
 * Checks every reference of a conversation against the received texts. `names` has the label of
 * each text.
 */
function checkReferences(
  blocks: readonly ConversationBlock[],
  names: readonly (string | undefined)[],
  outcomes: readonly BlockOutcome[],
): Checked {
  const faults: string[] = [];
  let references = 0;
  // In a text sent with lines left out, lines are counted as sent.
  const isCut = (at: number): boolean =>
    outcomes[at]!.text !== blocks[at]!.text &&
    !outcomes[at]!.by.every((name) => LINE_BY_LINE.has(name));
  blocks.forEach((block, at) => {
    const { text, by } = outcomes[at]!;
    if (text === block.text) return;
    const raw = block.text.split('\n');
    const own = raw.map(texts);
    const whole: string[] = [];
    let cursor = 0;
    let isOfCut = false;
    for (const line of text.split('\n')) {
      const read = readLine(line);
      if (read === undefined) {
        const times = AGAIN.exec(line)?.[1];
        if (times !== undefined) for (let n = 0; n < Number(times); n++) whole.push(whole.at(-1)!);
        else if (!HEADER.test(line)) whole.push(texts(line));
        continue;
      }
      references++;
      const isOwn = read.label === 'this text';
      const named = isOwn ? at : names.indexOf(read.label);
      if (named < 0 || (named >= at && !isOwn)) {
        faults.push(`block ${at}: nothing earlier is called ${read.label}`);
        continue;
      }
      const sent = outcomes[named]!.text.split('\n');
      isOfCut ||= isCut(named);
      // Printed numbers are the original's, whatever is left out between them.
      if (isCut(named) && !read.isPrinted && !sent.some((one) => NUMBER.test(one))) {
        const seen = seenLines(sent).flatMap(({ line: one, number }) =>
          number >= read.from && number <= read.to ? [one] : [],
        );
        const found = findSeen(seen.map(texts), own, cursor);
        if (found === undefined || seen.length === 0)
          faults.push(`block ${at}: ${line} stands for no lines of it: ${seen[0]?.slice(0, 60)}`);
        else {
          whole.push(...own.slice(...found));
          cursor = found[1];
        }
        continue;
      }
      const there = blocks[named]!.text.split('\n');
      const [start, end] = rangeIn(read, there);
      const piece = there.map(texts).slice(start, end);
      const first = firstNumber(read, there);
      let place = isOwn ? Math.max(cursor, end) : cursor;
      do place = find(piece, own, place) + 1;
      while (place > 0 && numberOf(raw[place - 1]) !== first);
      if (piece.length !== read.to - read.from + 1 || place === 0)
        faults.push(`block ${at}: ${line} stands for no lines of it: ${piece[0]?.slice(0, 60)}`);
      else cursor = place - 1 + piece.length;
      whole.push(...piece);
    }
    const joined = (all: readonly string[]): string =>
      all.filter((line) => !isOfCut || !LEFT_OUT.test(line)).join('\n');
    if (by.every((name) => LINE_BY_LINE.has(name)) && joined(whole) !== joined(own))
      faults.push(`block ${at}: its references and its lines do not make it up`);
  });
  return { faults, references };
}

function result(index: number, made: ToolOutput, text: string): ConversationBlock {
  return {
    index,
    role: 'user',
    kind: 'tool_result',
    message: index,
    toolUseId: `t${index}`,
    text,
    toolName: made.tool,
    toolInput: made.input,
  };
}

/**
 * Returns three results, of which the second repeats a part of the first and the third parts of
 * both, then a text pasted below a question and a file written by the model, with a result that
 * repeats a part of each.
 */
function conversation(random: Random, first: TextClass, later: TextClass) {
  const wrap = (): (typeof WRAPPED)[number] => WRAPPED[randomInt(random, 0, WRAPPED.length)]!;
  const one = MAKERS[first](random, 'alpha');
  const two = MAKERS[later](random, 'beta');
  const cut = randomInt(random, 0, two.lines.length);
  const mixed = [...two.lines.slice(0, cut), ...partOf(random, one.lines), ...two.lines.slice(cut)];
  const three = MAKERS[first](random, 'gamma');
  const both = [...partOf(random, mixed), ...three.lines, ...partOf(random, one.lines)];
  const pasted = MAKERS[later](random, 'delta');
  const written = MAKERS[first](random, 'epsilon');
  const last = [...partOf(random, pasted.lines), hash(random, 9), ...partOf(random, written.lines)];
  const question = ['Please look at this.', '', ...pasted.lines, '', 'What does it say?'];
  return {
    blocks: [
      result(0, one, wrap()(one.lines)),
      result(1, two, wrap()(mixed)),
      result(2, three, wrap()(both)),
      { index: 3, role: 'user', kind: 'user_text', message: 3, text: question.join('\n') },
      {
        index: 4,
        role: 'assistant',
        kind: 'tool_use',
        message: 4,
        text: written.lines.join('\n'),
        toolName: 'Write',
        toolInput: { file_path: '/app/epsilon', content: written.lines.join('\n') },
      },
      result(5, { ...three, lines: last }, wrap()(last)),
    ] satisfies ConversationBlock[],
    names: [
      `result 1 (${one.name})`,
      `result 2 (${two.name})`,
      `result 3 (${three.name})`,
      'user text 1',
      'content of call 1 (Write epsilon)',
      `result 4 (${three.name})`,
    ],
  };
}

/**
 * Returns the lines that a reader of a text has seen, with their numbers; a repeated line as often
 * as its count says.
 */
function seenLines(sent: readonly string[]): readonly { line: string; number: number }[] {
  const numbers = numbersOfLines(sent);
  return sent.flatMap((line, at) => {
    const times = Number(AGAIN.exec(line)?.[1] ?? 0);
    if (times > 0)
      return Array.from({ length: times }, (_, n) => ({
        line: sent[at - 1]!,
        number: numbers[at - 1]! + n + 1,
      }));
    return line.startsWith('[svc ') ? [] : [{ line, number: numbers[at]! }];
  });
}

/** Random conversations per pair. */
const SEEDS = Number(process.env['SVC_PAIR_SEEDS'] ?? 1);
const MODES: readonly Mode[] = ['hybrid', 'aggressive'];

function checkPairs(mode: Mode, commentLines: CommentLines) {
  const faults: string[] = [];
  let references = 0;
  let pair = 0;
  for (const first of TEXT_CLASSES) {
    for (const later of TEXT_CLASSES) {
      pair++;
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { blocks, names } = conversation(createRandom(seed * 1000 + pair), first, later);
        const outcomes = compressConversation(blocks, {
          mode,
          maxChars: 120,
          thresholdTokens: 0,
          logBudgetTokens: 1500,
          ...(mode === 'aggressive' ? { commentLines } : {}),
        });
        const checked = checkReferences(blocks, names, outcomes);
        references += checked.references;
        for (const fault of checked.faults)
          faults.push(`${mode}, ${first} then ${later}, seed ${seed}: ${fault}`);
      }
    }
  }
  return { faults, references };
}

for (const mode of MODES)
  test(`makes every reference between blocks of two classes name lines of the original, in ${mode}`, async () => {
    const { faults, references } = checkPairs(mode, await loadCodeTools(['ts']));
    assert.equal(faults.slice(0, 20), []);
    assert.ok(references > 500, `${references}`);
  });

test.run();
