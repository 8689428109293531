/**
 * Renders a program's terminal output with its colours as SVG: without scripts, fonts or URLs,
 * sharp at every size, and only a few kilobytes.
 */
import { stripVTControlCharacters } from 'node:util';
import { widthOf } from '../cli/screen/fit.ts';

const CHAR_WIDTH = 8.4;
const LINE_HEIGHT = 18;
const FONT_SIZE = 14;
const MARGIN = 16;

/** Colours by their ANSI number; readable on the dark background. */
const COLOURS: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#56d4dd',
  37: '#e6edf3',
  90: '#8b949e',
};
const FOREGROUND = '#e6edf3';
const BACKGROUND = '#0d1117';

interface TextStyle {
  readonly colour: string | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isInverted: boolean;
}

const PLAIN_STYLE: TextStyle = {
  colour: undefined,
  isBold: false,
  isDim: false,
  isInverted: false,
};

/** Returns the picture; `title` describes it for screen readers. */
export function terminalPicture(lines: readonly string[], title: string): string {
  const columns = Math.max(...lines.map((line) => widthOf(stripVTControlCharacters(line))));
  const width = Math.ceil(columns * CHAR_WIDTH) + 2 * MARGIN;
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const texts = lines.flatMap((line, at) => lineText(line, at));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}" fill="${FOREGROUND}">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
${texts.join('\n')}
</svg>
`;
}

/** Places each run of equal style at its column, so that a font of another width shifts nothing. */
function lineText(line: string, row: number): readonly string[] {
  const y = MARGIN + row * LINE_HEIGHT + FONT_SIZE;
  let column = 0;
  const spans: string[] = [];
  for (const { text, style } of runsOf(line)) {
    const from = column;
    column += widthOf(text);
    // Blanks at both ends are not drawn.
    const start = from + text.search(/\S|$/);
    const shown = text.trim();
    if (shown === '') continue;
    spans.push(
      `<text x="${at(start)}" y="${y}" textLength="${wide(widthOf(shown))}" xml:space="preserve"${attributesOf(style)}>${escaped(shown)}</text>`,
    );
  }
  return spans;
}

const wide = (columns: number): string => String(Math.round(columns * CHAR_WIDTH * 10) / 10);
const at = (column: number): string => wide(MARGIN / CHAR_WIDTH + column);

function attributesOf({ colour, isBold, isDim, isInverted }: TextStyle): string {
  const fill = isInverted ? COLOURS[36] : colour;
  return [
    ...(fill === undefined ? [] : [` fill="${fill}"`]),
    ...(isBold ? [' font-weight="700"'] : []),
    ...(isDim ? [' opacity="0.65"'] : []),
  ].join('');
}

// oxlint-disable-next-line no-control-regex -- how a terminal is told a colour
const CODE = /\u001b\[([\d;]*)m/g;

function runsOf(line: string): readonly { readonly text: string; readonly style: TextStyle }[] {
  const runs: { text: string; style: TextStyle }[] = [];
  let style = PLAIN_STYLE;
  let from = 0;
  const take = (to: number): void => {
    if (to > from) runs.push({ text: line.slice(from, to), style });
  };
  for (const match of line.matchAll(CODE)) {
    take(match.index);
    from = match.index + match[0].length;
    for (const code of (match[1] === '' ? '0' : match[1]!).split(';'))
      style = withStyleCode(style, Number(code));
  }
  take(line.length);
  return runs;
}

function withStyleCode(style: TextStyle, code: number): TextStyle {
  if (code === 0) return PLAIN_STYLE;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 22) return { ...style, isBold: false, isDim: false };
  if (code === 7) return { ...style, isInverted: true };
  if (code === 27) return { ...style, isInverted: false };
  if (code === 39) return { ...style, colour: undefined };
  return code in COLOURS ? { ...style, colour: COLOURS[code] } : style;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
