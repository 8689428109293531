/** Counts the line breaks in `text`, up to `max`. */
export function lineBreaks(text: string, max = Infinity): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && count < max; at = text.indexOf('\n', at + 1))
    count++;
  return count;
}
