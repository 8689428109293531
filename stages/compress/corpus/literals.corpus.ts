/** The strings of a JSON text by where they stand, found by a scanner of its own. */

/** A body with the strings at some places taken out. */
export interface SplitBody {
  /** Every byte but those of the strings that were taken out, as Latin-1 so that a byte is a character. */
  readonly rest: string;
  /** The strings that were taken out, decoded. */
  readonly values: ReadonlyMap<string, string>;
  /** The place of the last string that begins before a position of `rest`. */
  placeAt(position: number): string;
}

/** Takes the strings at `places` out of a valid JSON text. */
export function splitAt(body: Buffer, places: ReadonlySet<string>): SplitBody {
  const text = body.toString('latin1');
  const values = new Map<string, string>();
  const pieces: string[] = [];
  const strings: (readonly [number, string])[] = [];
  let from = 0;
  let taken = 0;
  for (const { place, start, end } of stringsOf(text)) {
    strings.push([start - taken, place]);
    if (!places.has(place)) continue;
    const literal = Buffer.from(text.slice(start, end), 'latin1').toString();
    values.set(place, JSON.parse(literal) as string);
    pieces.push(text.slice(from, start));
    from = end;
    taken += end - start;
  }
  pieces.push(text.slice(from));
  return {
    rest: pieces.join(''),
    values,
    placeAt: (position) => strings.findLast(([at]) => at <= position)?.[1] ?? '(the beginning)',
  };
}

interface Found {
  readonly place: string;
  readonly start: number;
  readonly end: number;
}

/** Every string that is a value, in order. Names of members are none. */
function* stringsOf(text: string): Generator<Found> {
  const open: { readonly isList: boolean; name: string; count: number; isName: boolean }[] = [];
  const structural = /["{}[\],:]/g;
  for (let match = structural.exec(text); match !== null; match = structural.exec(text)) {
    const at = match.index;
    const inner = open.at(-1);
    switch (match[0]) {
      case '"': {
        const end = endOfString(text, at);
        structural.lastIndex = end;
        if (inner?.isName === true) inner.name = JSON.parse(text.slice(at, end)) as string;
        else
          yield {
            place: open.map((each) => (each.isList ? each.count : each.name)).join('/'),
            start: at,
            end,
          };
        break;
      }
      case '{':
      case '[':
        open.push({ isList: match[0] === '[', name: '', count: 0, isName: match[0] === '{' });
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ':':
        if (inner !== undefined) inner.isName = false;
        break;
      default:
        if (inner === undefined) break;
        inner.count += 1;
        inner.isName = !inner.isList;
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
}
