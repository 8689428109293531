/**
 * Spelling variants of words in blocks: short forms, British and American spelling, two words as
 * one, typos. Another spelling is only tried if no block contains the word itself, so that results
 * for existing words do not change.
 */
import { liveCount } from '../search/score.ts';
import type { Corpus } from '../search/score.ts';
import { stem } from './stem.ts';

/** Stem endings with two spellings. */
const SPELLING_ENDS = (
  [
    ['our', 'or'],
    ['is', 'iz'],
    ['ys', 'yz'],
    ['tr', 'ter'],
    ['nc', 'ns'],
    ['logu', 'log'],
    ['ll', 'l'],
  ] as const
).flatMap(([one, other]) => [[one, other] as const, [other, one] as const]);

/** Words with irregular forms. */
const IRREGULAR = (
  'child children|person people|man men|woman women|foot feet|mouse mice|index indices|matrix matrices|vertex vertices|' +
  'appendix appendices|criterion criteria|phenomenon phenomena|begin began begun|bind bound|break broke broken|' +
  'bring brought|build built|buy bought|catch caught|choose chose chosen|draw drew drawn|drive drove driven|' +
  'fall fell fallen|feed fed|fly flew flown|forbid forbidden|forget forgot forgotten|freeze froze frozen|give gave given|' +
  'grow grew grown|hang hung|hide hid hidden|hold held|keep kept|know knew known|lead led|leave left|lend lent|' +
  'light lit|lose lost|mean meant|meet met|pay paid|rise rose risen|run ran|sell sold|send sent|shake shook|shoot shot|' +
  'shrink shrank shrunk|sink sank sunk|sleep slept|speak spoke spoken|spend spent|steal stole stolen|stick stuck|' +
  'strike struck|sweep swept|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|' +
  'throw threw thrown|wake woke woken|wear wore worn|wind wound|win won|withdraw withdrew withdrawn|write wrote written'
)
  .split('|')
  .map((forms) => forms.split(' ').map(stem));

const MIN_LETTERS = 3;
const MIN_HALF = 3;
/** Shorter words resemble too many others. */
const MIN_LETTERS_CORRECTED = 6;
/** Longer ones are not words. */
const MAX_LETTERS = 24;

const NOT_SUFFIX =
  /\b(?:ai|are|ca|could|did|do|does|had|has|have|is|must|need|should|was|were|wo|would)n['’]?t\b/gi;
const SHORT_FORM = /(?<=[a-z])['’](?:s|ll|re|ve|d|m)\b/gi;

/** Removes "n't" and other apostrophe suffixes from `text`: "Ruff's" asks about Ruff. */
export function withoutShortForms(text: string): string {
  return text.replace(NOT_SUFFIX, ' ').replace(SHORT_FORM, ' ');
}

/**
 * Returns `term` if blocks contain it; else its spelling in blocks, as one term or two; else
 * `term`.
 */
export type Speller = (term: string) => readonly string[];

/** Creates a caching speller: a word in no block takes some dozens of lookups. */
export function spellerOf(corpus: Corpus): Speller {
  const known = new Map<string, readonly string[]>();
  return (term) => {
    const found = known.get(term) ?? asSpelled(corpus, term);
    known.set(term, found);
    return found;
  };
}

function asSpelled(corpus: Corpus, term: string): readonly string[] {
  const isHeld = (each: string): boolean => liveCount(corpus, corpus.postings(each)) > 0;
  if (term.length < MIN_LETTERS || term.length > MAX_LETTERS) return [term];
  if (!/^[a-z]+$/.test(term) || isHeld(term)) return [term];
  const other = [...otherForms(term), ...otherEnds(term), ...corrections(term)].find(isHeld);
  return other === undefined ? (halves(term, isHeld) ?? [term]) : [other];
}

function otherForms(term: string): readonly string[] {
  return IRREGULAR.find((forms) => forms.includes(term)) ?? [];
}

function otherEnds(term: string): string[] {
  return SPELLING_ENDS.filter(([from]) => term.endsWith(from)).map(
    ([from, to]) => term.slice(0, -from.length) + to,
  );
}

/**
 * Returns corrections of `term`: two letters swapped, one removed, or one doubled; the first letter
 * is taken as right.
 */
function corrections(term: string): string[] {
  if (term.length < MIN_LETTERS_CORRECTED) return [];
  return Array.from({ length: term.length - 1 }, (_, before) => {
    const at = before + 1;
    const [start, letter, end] = [term.slice(0, at), term[at]!, term.slice(at + 1)];
    const exchanged = end === '' ? [] : [start + end[0]! + letter + end.slice(1)];
    return [...exchanged, start + end, start + letter + letter + end];
  }).flat();
}

function halves(term: string, isHeld: (term: string) => boolean): readonly string[] | undefined {
  for (let at = MIN_HALF; at <= term.length - MIN_HALF; at++) {
    // A stem has lost the "e" that its second half has by itself: "dotfil", but "file".
    const last = term.slice(at);
    const second = [stem(last), `${last}e`].find(isHeld);
    const first = stem(term.slice(0, at));
    if (second !== undefined && isHeld(first)) return [first, second];
  }
  return undefined;
}
