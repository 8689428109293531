/**
 * English words that say nothing about a text's subject. Deliberately short: a word that is also a
 * keyword or an identifier people search for ("import", "class", "this file") stays searchable;
 * BM25 gives merely frequent words next to no weight anyway.
 */
const WORDS =
  'a about again all also am an and any are as at be because been being both but by can cannot ' +
  'could did do does doing during each few for from further had has have having he her here hers ' +
  'him his how i if in into is it its itself may me might more most must my no nor not of on once ' +
  'only or other our ours out over own same shall she should so some such than that the their ' +
  'them then there these they this those through to too under until up upon us very was we were ' +
  'what when where whether which while who whom whose why will with within would you your';

/** The stop words, lower case, unstemmed. */
export const stopWords: ReadonlySet<string> = new Set(WORDS.split(' '));
