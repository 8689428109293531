/**
 * Repeats of a whole text that was sent in another form: shortened or encoded. Its lines are not
 * found there verbatim, but the form as a whole is.
 */
import { estimateTokens } from '../../model/tokens.ts';
import { numbersOfLines, writeReference, type Words } from './reference.ts';

/** The form in which a text was sent. */
export interface SentForm {
  readonly label: string;
  readonly text: string;
}

/**
 * Returns the form of a text in which all lines but those of `literal` are replaced by references
 * to `form`. Lines are counted as a reader does, by its markers. `named` is the number of replaced
 * lines; undefined if a reference would not save `min` estimated tokens.
 */
export function referToForm(
  { label, text }: SentForm,
  { literal, min, words }: FormOptions,
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
      range.to > range.from && estimateTokens(replaced) - estimateTokens(reference) >= min;
    if (isWorth) named += to - at;
    if (isWorth) out.push(reference);
    else out.push(...lines.slice(at, to));
    if (to < lines.length) out.push(lines[to]!);
    at = to + 1;
  }
  return named === 0 ? undefined : { text: out.join('\n'), named };
}

export interface FormOptions {
  /** Lines of the form that stay verbatim, by index. */
  readonly literal: ReadonlySet<number>;
  /** Least estimated tokens that each reference must save. */
  readonly min: number;
  /** Wording of the first reference. */
  readonly words: Words;
}
