/**
 * Detects a question's subject by the name of a file or a folder: `stop-words.ts` in "how do stop
 * words work", the folder `chokidar` in "chokidar ignore dotfiles". A file named like an everyday
 * word is not identified by that word alone.
 */
import { askingWords } from '../words/asking-words.ts';
import { everydayThings, ordinaryWords } from '../words/everyday-words.ts';
import { stem } from '../words/stem.ts';
import type { Tokenizer } from '../words/tokenize.ts';

/** One word of a question as written, stop words left out. */
export interface QuestionWord {
  readonly term: string;
  /** In lower case; undefined for a part of a word. */
  readonly text: string | undefined;
  /** Number shared by the parts of one word, as in `fast-uri`. */
  readonly position: number;
  /** Capitalized inside a sentence, so a name. */
  readonly isProper: boolean;
}

const ASKING: ReadonlySet<string> = new Set(askingWords.map(stem));
const EVERYDAY: ReadonlySet<string> = new Set([
  ...askingWords,
  ...ordinaryWords,
  ...everydayThings,
]);
/** `chunk` identifies `chunk.test.ts`; a leading dot is part of the name. */
const EXTENSIONS = /(?<=.)(?:\.[A-Za-z][A-Za-z0-9]{0,9}){1,2}$/;

/** Returns whether `words` name the file at `path`, or a folder that contains it. */
export function namesPath(
  tokenizer: Tokenizer,
  words: readonly QuestionWord[],
  path: string,
  isInformative: (term: string) => boolean,
): boolean {
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  const names = new Set([...folders, file, file.replace(EXTENSIONS, '')]);
  return [...names].some((name) => {
    const parts = partsOf(tokenizer, name);
    if (!parts.some(isInformative)) return false;
    return parts.length === 1 ? isWord(name, words) : isRun(parts, words);
  });
}

/** Returns the parts of a name, without the term for the whole. */
function partsOf(tokenizer: Tokenizer, name: string): readonly string[] {
  const terms = tokenizer.terms(name);
  const isWhole = terms.length > 1 && terms.at(-1) === name.toLowerCase();
  return isWhole ? terms.slice(0, -1) : terms;
}

/** Compares as written, not by stem: "commands" does not mean `commander`. */
function isWord(name: string, words: readonly QuestionWord[]): boolean {
  const lower = name.toLowerCase();
  return words.some(({ text, isProper }) => {
    if (text === undefined || singular(text) !== singular(lower)) return false;
    return isProper || !(EVERYDAY.has(text) || EVERYDAY.has(singular(text)));
  });
}

function isRun(parts: readonly string[], words: readonly QuestionWord[]): boolean {
  return words.some((first, at) => {
    if (first.term !== parts[0]) return false;
    const run = words.slice(at, at + parts.length);
    if (run.length < parts.length || run.some(({ term }, n) => term !== parts[n])) return false;
    // "Run the tests" does not refer to `run-tests.sh`.
    const isTyped = run.every(({ position }) => position === first.position);
    return isTyped || run.some(({ term }) => !ASKING.has(term));
  });
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word;
}
