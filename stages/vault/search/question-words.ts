/**
 * The words of a question, and how much each of them says of what it is about: the rarer
 * among the blocks the more, and little where it is one that anybody asks with.
 */
import { askingWords } from '../words/asking-words.ts';
import { ordinaryWords } from '../words/everyday-words.ts';
import { inverseFrequency, liveCount, MAX_MATCHED_TERMS } from './score.ts';
import type { Corpus } from './score.ts';
import type { Speller } from '../words/spelling.ts';
import { stem } from '../words/stem.ts';
import type { AskedWord } from './subject.ts';
import type { Tokenizer } from '../words/tokenize.ts';

/** The least weight of a word, however many blocks hold it, as a share of what the rarest weighs. */
const LEAST_WEIGHT = 0.2;
/** Words that anybody asks with weigh this much of what their rarity says. */
const ASKING_WEIGHT = 0.12;
/** Words that may be said of anything weigh this much of it. */
const ORDINARY_WEIGHT = 0.5;
/** What has a name, or is "my" or "our", and stands in no block weighs twice: the question is about something else. */
const UNKNOWN_WEIGHT = 2;
/** A word is rare that stands in no more blocks than this, whichever is more. */
const RARE_SHARE = 0.05;
export const RARE_BLOCKS = 4;

const ASKING: ReadonlySet<string> = new Set(askingWords.map(stem));
const ASKING_AS_WRITTEN: ReadonlySet<string> = new Set(askingWords);
/** Who or what does it is not what is done: a follower, a loader, though they have the stem of the verb. */
const DOER = /.{3}(?:er|or)s?$/i;
const ORDINARY: ReadonlySet<string> = new Set(ordinaryWords.map(stem));
const COUNT = /^\d{1,3}$/;
/** What may be one word, or a path or an identifier, in running text. */
const WORD = /[^\s"'`()[\]{}<>,;:!?*|=]+/g;
const SIGNS_BEHIND = /(?<![./-])[./-]+$/;
/** An English word with a capital: inside a sentence it names something, be it one to ask with (Go, Word, Make). */
const CAPITAL = /^(?:[A-Z][a-z]|[B-HJ-Z](?:\+\+|#)?$)/;
/** What English writes with a capital wherever it stands. */
const CALENDAR =
  /^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|(?:Septem|Octo|Novem|Decem)ber)$/;
const OWNER = /^(?:my|our|your|his|her|their)$/i;
const BEFORE_SENTENCE = /(?:^|[.!?:\n"'`(*#>-])\s*$/;
/** In a heading, where more of the words than this have a capital, it names nothing. */
const MOST_CAPITALS = 0.5;

/** One word of a question. Terms are bits of `Scored.matched`; what no block holds has none. */
export interface Word {
  readonly weight: number;
  readonly kind: 'asking' | 'plain' | 'name';
  readonly isRare: boolean;
  /** It names something, and no block holds it. */
  readonly isUnknown: boolean;
  /** The word itself; of a name, all of it. */
  readonly whole: number;
  /** The parts of a name. */
  readonly parts: readonly number[];
}

/** The words of `query`, weighed, and as they stand in it; `terms` are what blocks were ranked by. */
export function wordsOf(
  {
    corpus,
    tokenizer,
    spell: asSpelled,
  }: { readonly corpus: Corpus; readonly tokenizer: Tokenizer; readonly spell: Speller },
  query: string,
  terms: readonly string[],
): { readonly words: Word[]; readonly asked: AskedWord[] } {
  const bits = new Map(terms.slice(0, MAX_MATCHED_TERMS).map((term, at) => [term, 1 << at]));
  const words = new Map<string, Word>();
  const asked: AskedWord[] = [];
  const least = LEAST_WEIGHT * inverseFrequency(corpus.size, 1);
  let isOwned = false;
  const add = (whole: string, parts: readonly string[], isProper = false, text = ''): void => {
    if (words.has(whole)) return;
    // A letter with a capital is a name (C, R); blocks hold it for any reason.
    const isLetter = isProper && whole.length === 1;
    const blocks = isLetter ? 0 : liveCount(corpus, corpus.postings(whole));
    // A small number counts something. One of three digits may name it, and does where blocks hold it.
    const isCount = COUNT.test(whole);
    if (isCount && whole.length < 3) return;
    const isVerb = ASKING_AS_WRITTEN.has(text.toLowerCase()) || !DOER.test(text);
    const isAsking = (ASKING.has(whole) && isVerb && !isProper) || (isCount && blocks === 0);
    const isOrdinary = ORDINARY.has(whole) && !isProper;
    const kind = parts.length > 0 ? 'name' : isAsking ? 'asking' : 'plain';
    // What no block holds says as much as what one does: more would make a small vault deaf.
    const rarity = Math.max(inverseFrequency(corpus.size, Math.max(1, blocks)), least);
    const isUnknown = (isProper || isOwned) && blocks === 0;
    // Of "my old phone" the phone, if the vault has that word or not.
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
    // A name is spelled in one way, and is no compound: Facebook is neither face nor book.
    const spelled = isProper ? [term] : asSpelled(term);
    if (spelled.length > 1) add(term, spelled);
    else add(spelled[0]!, [], isProper, text);
  };
  const texts = [...query.matchAll(WORD)];
  const capitals = texts.filter(([text]) => CAPITAL.test(text)).length;
  const isHeading = capitals > MOST_CAPITALS * texts.length;
  for (const { 0: text, index } of texts) {
    if (OWNER.test(text)) isOwned = true;
    const own = tokenizer.terms(text);
    const whole = own.at(-1);
    const isName = own.length > 1 && whole === text.replace(SIGNS_BEHIND, '').toLowerCase();
    const isProper = !isHeading && isProperAt(query, index, text);
    const parts = isName ? own.slice(0, -1) : own;
    const alone = own.length === 1 ? text.replace(SIGNS_BEHIND, '').toLowerCase() : undefined;
    for (const term of parts) asked.push({ term, text: alone, typed: index, isProper });
    if (isName) add(whole, parts, isProper);
    else for (const term of own) spell(term, isProper, text);
  }
  return { words: [...words.values()], asked };
}

function isProperAt(query: string, index: number, text: string): boolean {
  if (!CAPITAL.test(text) || CALENDAR.test(text)) return false;
  return !BEFORE_SENTENCE.test(query.slice(Math.max(0, index - 8), index));
}
