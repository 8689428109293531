/**
 * Repeats of a whole text that was sent in another form: shortened or encoded. Its lines are not
 * found there verbatim, but the form as a whole is.
 */
import { estimateTokens } from '../../model/tokens.ts';
import { numbersOfLines, writeReference, type Wording } from './reference.ts';

/** The form in which a text was sent. */
export interface SentForm {
  readonly label: string;
  readonly text: string;
}

/**
 * Returns the form of a text in which all lines but those of `literal` are replaced by references
 * to `form`. Lines are counted as a reader does, by its markers. `replacedLines` counts those
 * lines; the result is undefined if a reference would not save `min` estimated tokens.
 */
export function referToForm(
  { label, text }: SentForm,
  { literal, min, wording }: FormOptions,
): { readonly text: string; readonly replacedLines: number } | undefined {
  const lines = text.split('\n');
  const numbers = numbersOfLines([...lines, '']);
  const out: string[] = [];
  let replacedLines = 0;
  for (let at = 0; at < lines.length;) {
    let to = at;
    while (to < lines.length && !literal.has(to)) to++;
    const replaced = lines.slice(at, to).join('\n');
    const range = { from: numbers[at]!, to: numbers[to]! - 1, by: 'count' } as const;
    const nextWording = replacedLines === 0 ? wording : 'named';
    const reference = writeReference(label, range, nextWording, 'same');
    const isWorth =
      range.to > range.from && estimateTokens(replaced) - estimateTokens(reference) >= min;
    if (isWorth) replacedLines += to - at;
    if (isWorth) out.push(reference);
    else out.push(...lines.slice(at, to));
    if (to < lines.length) out.push(lines[to]!);
    at = to + 1;
  }
  return replacedLines === 0 ? undefined : { text: out.join('\n'), replacedLines };
}

export interface FormOptions {
  /** Lines of the form that stay verbatim, by index. */
  readonly literal: ReadonlySet<number>;
  /** Minimum of estimated tokens that each reference must save. */
  readonly min: number;
  /** Wording of the first reference. */
  readonly wording: Wording;
}
