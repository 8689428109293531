/**
 * Measures what the bundled recipes add: savings on transcripts over the built-in rules alone, and
 * their time for a request of 10,000 tokens.
 */
import { bundledRecipes } from '../../server/bundled-recipes.ts';
import { builtIn } from '../../stages/compress/rules/built-in.ts';
import { createRecipeCompiler, toRecipeSet } from '../../stages/compress/recipe/set.ts';
import {
  compressConversation,
  type ConversationOptions,
} from '../../stages/compress/pass/conversation.ts';
import type { ConversationBlock } from '../../stages/compress/pass/blocks.ts';
import type { Rewriter } from '../../stages/compress/rules/rewrite.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { estimateTokens } from '../../stages/model/tokens.ts';
import { median } from '../figures.ts';
import { toBlocks, type Transcript } from './transcripts.ts';

/** Savings for one kind of agent, as shares of all tokens of its conversations. */
export interface RecipeSavings {
  readonly source: string;
  readonly transcripts: number;
  readonly tokens: number;
  readonly savedWithout: number;
  readonly savedWith: number;
}

/** Milliseconds that recipes add to a request of 10,000 new tokens. */
export interface RecipeTime {
  readonly requests: number;
  readonly rounds: number;
  readonly withoutP50Ms: number;
  readonly addedP50Ms: number;
  readonly addedP95Ms: number;
}

export interface RecipeFigures {
  readonly savings: readonly RecipeSavings[];
  readonly time: RecipeTime;
}

type Options = Omit<ConversationOptions, 'rewriter'>;

export function bundledRewriter(): Rewriter {
  return createRecipeCompiler()(toRecipeSet(bundledRecipes(), false));
}

export function measureRecipes(
  transcripts: readonly Transcript[],
  options: Options,
  count: CountTokens,
): RecipeFigures {
  const rewriter = bundledRewriter();
  const time = timeRecipes(requestsOf(transcripts), { ...options, thresholdTokens: 0 }, rewriter);
  return { savings: savingsOf(transcripts, options, { rewriter, count }), time };
}

function savingsOf(
  transcripts: readonly Transcript[],
  options: Options,
  { rewriter, count }: { readonly rewriter: Rewriter; readonly count: CountTokens },
): readonly RecipeSavings[] {
  const rows = transcripts.flatMap((transcript) => {
    const blocks = toBlocks(transcript);
    const before = sum(blocks.map(({ text }) => count(text)));
    const reached = sum(blocks.map(({ text }) => estimateTokens(text))) >= options.thresholdTokens;
    const after = [builtIn, rewriter].map((each) =>
      sum(compressConversation(blocks, { ...options, rewriter: each }).map((o) => count(o.text))),
    );
    const source = transcript.id.split('-')[0]!;
    return reached ? [{ source, before, without: after[0]!, with: after[1]! }] : [];
  });
  const sources = [...new Set(rows.map(({ source }) => source))];
  const row = (source: string, own: typeof rows): RecipeSavings => {
    const tokens = sum(own.map(({ before }) => before));
    return {
      source,
      transcripts: own.length,
      tokens,
      savedWithout: 1 - sum(own.map(({ without }) => without)) / tokens,
      savedWith: 1 - sum(own.map((one) => one.with)) / tokens,
    };
  };
  const all = rows.filter(({ source }) => source !== 'tau');
  return [
    ...sources.map((source) =>
      row(
        source,
        rows.filter((one) => one.source === source),
      ),
    ),
    row('all coding agents', all),
  ];
}

/** Returns requests of 10,000 to 14,000 tokens, cut from consecutive conversations. */
export function requestsOf(
  transcripts: readonly Transcript[],
): readonly (readonly ConversationBlock[])[] {
  return transcripts.flatMap((transcript) => {
    const requests: ConversationBlock[][] = [[]];
    let tokens = 0;
    for (const block of toBlocks(transcript)) {
      requests.at(-1)!.push(block);
      tokens += estimateTokens(block.text);
      if (tokens < MIN_TOKENS) continue;
      if (tokens > MAX_TOKENS) requests.pop();
      requests.push([]);
      tokens = 0;
    }
    return requests.slice(0, -1);
  });
}

const MIN_TOKENS = 10_000;
const MAX_TOKENS = 14_000;
const ROUNDS = 15;

/** Alternates runs with and without recipes; returns the median difference of each request. */
export function timeRecipes(
  requests: readonly (readonly ConversationBlock[])[],
  options: Options,
  rewriter: Rewriter,
): RecipeTime {
  const timed = requests.map((blocks) => ({
    blocks,
    share: MIN_TOKENS / sum(blocks.map(({ text }) => estimateTokens(text))),
    without: [] as number[],
    added: [] as number[],
  }));
  const timeOf = (blocks: readonly ConversationBlock[], each: Rewriter): number => {
    const start = performance.now();
    compressConversation(blocks, { ...options, rewriter: each });
    return performance.now() - start;
  };
  for (let round = -2; round < ROUNDS; round++)
    for (const { blocks, share, without, added } of timed) {
      const first = round % 2 === 0 ? timeOf(blocks, builtIn) : undefined;
      const withThem = timeOf(blocks, rewriter) * share;
      const plain = (first ?? timeOf(blocks, builtIn)) * share;
      if (round < 0) continue;
      without.push(plain);
      added.push(withThem - plain);
    }
  const added = timed.map((one) => median(one.added)).toSorted((a, b) => a - b);
  return {
    requests: requests.length,
    rounds: ROUNDS,
    withoutP50Ms: median(timed.map((one) => median(one.without))),
    addedP50Ms: median(added),
    addedP95Ms: added[Math.floor(added.length * 0.95)] ?? Number.NaN,
  };
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);
