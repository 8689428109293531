/**
 * Porter's suffix-stripping algorithm (M. F. Porter, "An algorithm for suffix stripping",
 * Program 14(3), 1980), which maps "indexing", "indexed" and "indexes" to one term.
 * It uses the 1980 rules, not the later revisions: the retrieval figures of section "bench"
 * were reached with them. ASCII only; a word in another alphabet is returned unchanged.
 */

/** A suffix and its replacement. */
type Rule = readonly [suffix: string, replacement: string];

/** The rules of a step by the last letter of their suffixes: most words end in none of these. */
type Step = ReadonlyMap<string, readonly Rule[]>;

const STEP_2 = toStep([
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
]);

const STEP_3 = toStep([
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]);

const STEP_4 = toStep(
  'al,ance,ence,er,ic,able,ible,ant,ement,ment,ent,ion,ou,ism,ate,iti,ous,ive,ize'
    .split(',')
    .map((suffix): Rule => [suffix, '']),
);

/** Returns the stem of one lower-case word; words of one or two letters stay unchanged. */
export function stem(word: string): string {
  if (word.length < 3 || !isAsciiLetters(word)) return word;
  let result = stripPlural(word);
  result = stripPast(result);
  if (result.endsWith('y') && hasVowel(result, result.length - 1)) {
    result = `${result.slice(0, -1)}i`;
  }
  result = replaceSuffix(result, STEP_2, 1);
  result = replaceSuffix(result, STEP_3, 1);
  result = replaceSuffix(result, STEP_4, 2);
  return dropLastE(result);
}

/** Step 1a. */
function stripPlural(word: string): string {
  if (!word.endsWith('s')) return word;
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('ss') ? word : word.slice(0, -1);
}

/** Step 1b, including the repair of its results ("hopp" to "hop", "fil" to "file"). */
function stripPast(word: string): string {
  if (word.endsWith('eed')) {
    return measure(word, word.length - 3) > 0 ? word.slice(0, -1) : word;
  }
  const cut = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0;
  if (cut === 0 || !hasVowel(word, word.length - cut)) return word;
  const rest = word.slice(0, -cut);
  if (rest.endsWith('at') || rest.endsWith('bl') || rest.endsWith('iz')) return `${rest}e`;
  if (endsDoubled(rest)) {
    return 'lsz'.includes(rest.at(-1)!) ? rest : rest.slice(0, -1);
  }
  return measure(rest, rest.length) === 1 && endsShort(rest, rest.length) ? `${rest}e` : rest;
}

/**
 * Applies the rule with the longest matching suffix, and only that one: when its
 * condition fails no shorter suffix is tried.
 */
function replaceSuffix(word: string, step: Step, minMeasure: number): string {
  const rules = step.get(word.at(-1) ?? '');
  if (rules === undefined) return word;
  let best: Rule | undefined;
  for (const rule of rules) {
    if (word.endsWith(rule[0]) && rule[0].length > (best?.[0].length ?? 0)) best = rule;
  }
  if (best === undefined) return word;
  const length = word.length - best[0].length;
  if (measure(word, length) < minMeasure) return word;
  // "ion" is stripped only after s or t: "adoption", but not "million".
  if (best[0] === 'ion' && !'st'.includes(word.charAt(length - 1) || '-')) return word;
  return word.slice(0, length) + best[1];
}

/** Step 5: drops a final "e", and one l of a final "ll". */
function dropLastE(word: string): string {
  let result = word;
  if (result.endsWith('e')) {
    const length = result.length - 1;
    const size = measure(result, length);
    if (size > 1 || (size === 1 && !endsShort(result, length))) result = result.slice(0, -1);
  }
  return result.endsWith('ll') && measure(result, result.length) > 1 ? result.slice(0, -1) : result;
}

/** Counts the vowel runs followed by a consonant run in the first `length` letters. */
function measure(word: string, length: number): number {
  let count = 0;
  let afterVowel = false;
  for (let index = 0; index < length; index++) {
    const consonant = isConsonant(word, index);
    if (consonant && afterVowel) count++;
    afterVowel = !consonant;
  }
  return count;
}

function hasVowel(word: string, length: number): boolean {
  for (let index = 0; index < length; index++) if (!isConsonant(word, index)) return true;
  return false;
}

function endsDoubled(word: string): boolean {
  const last = word.length - 1;
  return last > 0 && word[last] === word[last - 1] && isConsonant(word, last);
}

/** Returns true for consonant, vowel, consonant at the end, the last not w, x or y. */
function endsShort(word: string, length: number): boolean {
  return (
    length > 2 &&
    isConsonant(word, length - 3) &&
    !isConsonant(word, length - 2) &&
    isConsonant(word, length - 1) &&
    !'wxy'.includes(word[length - 1]!)
  );
}

/** Returns true for a consonant; a "y" is one at the start and after a vowel. */
function isConsonant(word: string, index: number): boolean {
  let at = index;
  let flips = 0;
  while (at > 0 && word[at] === 'y') {
    at--;
    flips++;
  }
  const first = !'aeiou'.includes(word[at]!);
  return flips % 2 === 0 ? first : !first;
}

function isAsciiLetters(word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    const code = word.charCodeAt(index);
    if (code < 97 || code > 122) return false;
  }
  return true;
}

function toStep(rules: readonly Rule[]): Step {
  const step = new Map<string, Rule[]>();
  for (const rule of rules) {
    const last = rule[0].at(-1)!;
    step.set(last, [...(step.get(last) ?? []), rule]);
  }
  return step;
}
