/**
 * Full-text search of the documentation: the index made by the build, and its search. Also runs in
 * browsers.
 */

/** A heading with the text after it. */
export interface Part {
  /** Address, with its anchor. */
  readonly href: string;
  readonly page: string;
  readonly title: string;
  /** Beginning of its text. */
  readonly excerpt: string;
}

export interface SearchIndex {
  readonly parts: readonly Part[];
  /**
   * For each word, numbers of parts and pages and the word's weight in them (0 to 1,000),
   * alternating; pages are numbered after the parts, in order of first appearance.
   */
  readonly words: Readonly<Record<string, readonly number[]>>;
}

/** Text of a part of a page, for the index. */
export interface PartText extends Omit<Part, 'excerpt'> {
  readonly text: string;
}

/** The searchable text of a page besides its parts. */
export interface PageText {
  readonly title: string;
  /** Description on the start page. */
  readonly about: string;
  /** Synonyms of the page's subject that the page itself does not use. */
  readonly alsoCalled: string;
  /** True for a page about changing svc: users' pages are listed before it. */
  readonly isForMaintainers: boolean;
  readonly parts: readonly PartText[];
}

/** Weight of a word, as a number of occurrences in the text. */
const WEIGHTS = { title: 6, about: 4, alsoCalled: 10 };
/** Okapi BM25: the tenth occurrence adds little, and a word weighs more in a short text. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;
/** Weight of the whole page for each of its parts. */
const PAGE_SHARE = 1.5;
const MAINTAINERS_SHARE = 0.6;
/** Weight of a word that only begins like the last one typed. */
const PREFIX_SHARE = 0.6;
const EXCERPT_CHARS = 140;
const MAX_FOUND = 12;

/** Words without value for a search; every page is about `svc`. */
const COMMON = new Set(
  `a an and any are as at be by can did do does for from get has have how i if in is it its me my of on one or our should svc that
the there this to use used using was we what when where which who why will with you your`.split(
    /\s+/,
  ),
);

/** Returns the words of a text in index form: lower case, without plural and verb endings. */
export function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const isInformative = (word: string): boolean => !COMMON.has(word);
  return words.filter(isInformative).map(stem).filter(isInformative);
}

function stem(word: string): string {
  if (word.length < 4) return word;
  const single = word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/(?<=[^su])s$/, '');
  return single
    .replace(/(?<=.{3})(?:ing|ed)$/, '')
    .replace(/(?<=.{3})e$/, '')
    .replace(/([b-df-hj-np-tv-z])\1$/, '$1');
}

/** The word counts of a part or a page. */
interface WordCounts {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
  readonly share: number;
}

function countWords(
  text: string,
  heads: readonly (readonly [text: string, weight: number])[],
  share: number,
): WordCounts {
  const plain = wordsOf(text);
  const counts = new Map<string, number>();
  const add = (words: Iterable<string>, weight: number): void => {
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + weight);
  };
  add(plain, 1);
  // Counted once: a title that repeats a word is not more relevant.
  for (const [head, weight] of heads) add(new Set(wordsOf(head)), weight);
  return { counts, length: plain.length, share };
}

const meanOf = (all: readonly WordCounts[]): number =>
  all.reduce((sum, { length }) => sum + length, 0) / Math.max(1, all.length);

export function buildIndex(pages: readonly PageText[]): SearchIndex {
  const shareOf = (page: PageText): number => (page.isForMaintainers ? MAINTAINERS_SHARE : 1);
  const parts = pages.flatMap((page) =>
    page.parts.map((part) => countWords(part.text, [[part.title, WEIGHTS.title]], shareOf(page))),
  );
  const wholes = pages.map((page) =>
    countWords(
      page.parts.map(({ title }) => title).join(' '),
      [
        [page.title, WEIGHTS.title],
        [page.about, WEIGHTS.about],
        [page.alsoCalled, WEIGHTS.alsoCalled],
      ],
      shareOf(page) * PAGE_SHARE,
    ),
  );
  const words = new Map<string, number[]>();
  const number = (all: readonly WordCounts[], from: number): void => {
    const mean = meanOf(all);
    for (const [index, { counts, length, share }] of all.entries()) {
      const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / mean);
      for (const [word, count] of counts) {
        const list = words.get(word) ?? [];
        list.push(from + index, Math.round((1000 * share * count) / (count + norm)));
        words.set(word, list);
      }
    }
  };
  number(parts, 0);
  number(wholes, parts.length);
  const listed = pages.flatMap((page) => page.parts);
  return {
    parts: listed.map(({ text, ...part }) => ({ ...part, excerpt: text.slice(0, EXCERPT_CHARS) })),
    words: Object.fromEntries(words),
  };
}

/**
 * Returns the parts that contain the words of `query`, best first; the last word may be incomplete.
 */
export function search({ parts, words }: SearchIndex, query: string): readonly Part[] {
  const queryWords = wordsOf(query);
  const scores = new Map<number, number>();
  for (const [nth, word] of queryWords.entries()) {
    const isLast = nth === queryWords.length - 1;
    const best = new Map<number, number>();
    for (const [known, list] of Object.entries(words)) {
      if (known !== word && !(isLast && known.startsWith(word))) continue;
      // Frequent words weigh less.
      const rarity = Math.log(1 + (2 * parts.length) / list.length);
      const share = known === word ? 1 : PREFIX_SHARE;
      for (let at = 0; at < list.length; at += 2) {
        const score = list[at + 1]! * rarity * share;
        best.set(list[at]!, Math.max(best.get(list[at]!) ?? 0, score));
      }
    }
    for (const [at, score] of best) scores.set(at, (scores.get(at) ?? 0) + score);
  }
  const pages = new Map<string, number>();
  const total = (at: number): number => {
    const page = parts[at]!.href.split('#')[0]!;
    if (!pages.has(page)) pages.set(page, parts.length + pages.size);
    return (scores.get(at) ?? 0) + (scores.get(pages.get(page)!) ?? 0);
  };
  return parts
    .map((part, index) => ({ part, at: index, score: total(index) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, MAX_FOUND)
    .map(({ part }) => part);
}
