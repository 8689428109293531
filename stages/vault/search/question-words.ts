/**
 * The words of a question, weighed by how much each says about its subject: rare words weigh most,
 * and words that are common in any question weigh little.
 */
import { askingWords } from '../words/asking-words.ts';
import { ordinaryWords } from '../words/everyday-words.ts';
import { inverseFrequency, liveCount, MAX_MATCHED_TERMS } from './score.ts';
import type { Corpus } from './score.ts';
import type { Speller } from '../words/spelling.ts';
import { stem } from '../words/stem.ts';
import type { QuestionWord } from './subject.ts';
import type { Tokenizer } from '../words/tokenize.ts';

/**
 * Minimum weight of a word, however many blocks contain it, as a share of the rarest word's weight.
 */
const MIN_WEIGHT = 0.2;
/** Factor for the weight of words common in any question. */
const ASKING_WEIGHT = 0.12;
/** Factor for the weight of words that apply to anything. */
const ORDINARY_WEIGHT = 0.5;
/**
 * Factor for a name, or a word after "my" or "our", that no block contains: the question is about
 * something else.
 */
const UNKNOWN_WEIGHT = 2;
/** A word is rare if at most this share or number of blocks contain it, whichever is more. */
const RARE_SHARE = 0.05;
export const RARE_BLOCKS = 4;

const ASKING: ReadonlySet<string> = new Set(askingWords.map(stem));
const ASKING_AS_WRITTEN: ReadonlySet<string> = new Set(askingWords);
/** An agent noun (a follower, a loader), which has the stem of its verb but another meaning. */
const AGENT_NOUN = /.{3}(?:er|or)s?$/i;
const ORDINARY: ReadonlySet<string> = new Set(ordinaryWords.map(stem));
const COUNT = /^\d{1,3}$/;
/** A word, path or identifier in running text. */
const WORD = /[^\s"'`()[\]{}<>,;:!?*|=]+/g;
const TRAILING_SIGNS = /(?<![./-])[./-]+$/;
/**
 * A capitalized word: inside a sentence it is a name, even if it is a common word (Go, Word, Make).
 */
const CAPITAL = /^(?:[A-Z][a-z]|[B-HJ-Z](?:\+\+|#)?$)/;
/** Words that English always capitalizes. */
const CALENDAR =
  /^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber)$/;
const OWNER = /^(?:my|our|your|his|her|their)$/i;
const BEFORE_SENTENCE = /(?:^|[.!?:\n"'`(*#>-])\s*$/;
/**
 * If more than this share of the words is capitalized, as in a heading, a capital does not mark a
 * name.
 */
const MAX_CAPITALS = 0.5;

/**
 * One word of a question. Terms are bits of `Scored.matched`; a term that no block contains has
 * none.
 */
export interface Word {
  readonly weight: number;
  readonly kind: 'asking' | 'plain' | 'name';
  readonly isRare: boolean;
  /** True for a name that no block contains. */
  readonly isUnknown: boolean;
  /** The word itself, or the whole name. */
  readonly whole: number;
  /** The parts of a name. */
  readonly parts: readonly number[];
}

/**
 * Returns the words of `query`, weighed, and as written; `terms` are those that blocks were ranked
 * by.
 */
export function wordsOf(
  {
    corpus,
    tokenizer,
    spell: asSpelled,
  }: { readonly corpus: Corpus; readonly tokenizer: Tokenizer; readonly spell: Speller },
  query: string,
  terms: readonly string[],
): { readonly words: Word[]; readonly askedWords: QuestionWord[] } {
  const bits = new Map(terms.slice(0, MAX_MATCHED_TERMS).map((term, at) => [term, 1 << at]));
  const words = new Map<string, Word>();
  const askedWords: QuestionWord[] = [];
  const min = MIN_WEIGHT * inverseFrequency(corpus.size, 1);
  let isOwned = false;
  const add = (whole: string, parts: readonly string[], isProper = false, text = ''): void => {
    if (words.has(whole)) return;
    // A capital letter is a name (C, R); blocks contain single letters for any reason.
    const isLetter = isProper && whole.length === 1;
    const blocks = isLetter ? 0 : liveCount(corpus, corpus.postings(whole));
    // A small number is a count. One of three digits may be a name, and is if blocks contain it.
    const isCount = COUNT.test(whole);
    if (isCount && whole.length < 3) return;
    const isVerb = ASKING_AS_WRITTEN.has(text.toLowerCase()) || !AGENT_NOUN.test(text);
    const isAsking = (ASKING.has(whole) && isVerb && !isProper) || (isCount && blocks === 0);
    const isOrdinary = ORDINARY.has(whole) && !isProper;
    const kind = parts.length > 0 ? 'name' : isAsking ? 'asking' : 'plain';
    // A word in no block weighs as much as one in a single block: more would make a small vault
    // find nothing.
    const rarity = Math.max(inverseFrequency(corpus.size, Math.max(1, blocks)), min);
    const isUnknown = (isProper || isOwned) && blocks === 0;
    // In "my old phone" this is "phone", whether or not the vault has that word.
    if (kind !== 'asking' && !isOrdinary) isOwned = false;
    const plain = isOrdinary ? ORDINARY_WEIGHT : isUnknown ? UNKNOWN_WEIGHT : 1;
    const share = kind === 'asking' ? ASKING_WEIGHT : plain;
    words.set(whole, {
      weight: rarity * share,
      kind,
      isUnknown,
      isRare: blocks <= Math.max(RARE_BLOCKS, corpus.size * RARE_SHARE),
      whole: isLetter ? 0 : (bits.get(whole) ?? 0),
      parts: parts.map((part) => bits.get(part) ?? 0),
    });
  };
  const spell = (term: string, isProper: boolean, text: string): void => {
    // A name has one spelling and is not a compound: Facebook is neither face nor book.
    const spelled = isProper ? [term] : asSpelled(term);
    if (spelled.length > 1) add(term, spelled);
    else add(spelled[0]!, [], isProper, text);
  };
  const texts = [...query.matchAll(WORD)];
  const capitals = texts.filter(([text]) => CAPITAL.test(text)).length;
  const isHeading = capitals > MAX_CAPITALS * texts.length;
  for (const { 0: text, index } of texts) {
    if (OWNER.test(text)) isOwned = true;
    const own = tokenizer.terms(text);
    const whole = own.at(-1);
    const isName = own.length > 1 && whole === text.replace(TRAILING_SIGNS, '').toLowerCase();
    const isProper = !isHeading && isProperAt(query, index, text);
    const parts = isName ? own.slice(0, -1) : own;
    const alone = own.length === 1 ? text.replace(TRAILING_SIGNS, '').toLowerCase() : undefined;
    for (const term of parts) askedWords.push({ term, text: alone, position: index, isProper });
    if (isName) add(whole, parts, isProper);
    else for (const term of own) spell(term, isProper, text);
  }
  return { words: [...words.values()], askedWords };
}

function isProperAt(query: string, index: number, text: string): boolean {
  if (!CAPITAL.test(text) || CALENDAR.test(text)) return false;
  return !BEFORE_SENTENCE.test(query.slice(Math.max(0, index - 8), index));
}
