/** Counts the line breaks in `text`, up to `most`. */
export function lineBreaks(text: string, most = Infinity): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && count < most; at = text.indexOf('\n', at + 1))
    count++;
  return count;
}
