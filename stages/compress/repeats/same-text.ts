/**
 * A text that came before to the letter and went out in another form: shortened, or encoded. None
 * of its lines is to be found there as it is, but all of that form is.
 */
import { estimateTokens } from '../../model/tokens.ts';
import { numbersOfLines, writeReference, type Words } from './reference.ts';

/** What went out for a text as it came. */
export interface SentForm {
  readonly label: string;
  readonly text: string;
}

/**
 * The form of a text, with the lines of it between those of `literal` named where `form` shows
 * them. Lines are counted as its reader counts them, by its markers. `named` is how many lines
 * are; undefined where a reference would not save `least` estimated tokens.
 */
export function referToForm(
  { label, text }: SentForm,
  { literal, least, words }: FormOptions,
): { readonly text: string; readonly named: number } | undefined {
  const lines = text.split('\n');
  const numbers = numbersOfLines([...lines, '']);
  const out: string[] = [];
  let named = 0;
  for (let at = 0; at < lines.length;) {
    let to = at;
    while (to < lines.length && !literal.has(to)) to++;
    const replaced = lines.slice(at, to).join('\n');
    const range = { from: numbers[at]!, to: numbers[to]! - 1, by: 'count' } as const;
    const how = named === 0 ? words : 'named';
    const reference = writeReference(label, range, how, 'same');
    const isWorth =
      range.to > range.from && estimateTokens(replaced) - estimateTokens(reference) >= least;
    if (isWorth) named += to - at;
    if (isWorth) out.push(reference);
    else out.push(...lines.slice(at, to));
    if (to < lines.length) out.push(lines[to]!);
    at = to + 1;
  }
  return named === 0 ? undefined : { text: out.join('\n'), named };
}

export interface FormOptions {
  /** Lines of the form that stay, by index. */
  readonly literal: ReadonlySet<number>;
  /** Estimated tokens that each reference must save. */
  readonly least: number;
  /** How much the first reference says. */
  readonly words: Words;
}
