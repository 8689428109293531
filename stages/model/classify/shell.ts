/**
 * A shell line taken apart as far as needed to know what printed the output: pipelines of simple
 * commands, with their input files, without other redirections, here-documents, comments and
 * leading keywords. Unparseable parts are skipped; nothing is ever run.
 */

/** A program with its arguments, unquoted. */
export interface SimpleCommand {
  readonly words: readonly string[];
  /** True if its output goes into a file. */
  readonly redirected: boolean;
  /** The file it reads from. */
  readonly input?: string;
}

/** Commands joined by `|`, in order. */
export type Pipeline = readonly SimpleCommand[];

const WORD =
  String.raw`(?:[^\s'"\\|&;<>()` +
  '`' +
  String.raw`$]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\$\([^)]*\)|\$)`;
const TOKEN = new RegExp(
  [
    String.raw`(?<blank>[ \t\r]+|\\\n|(?<=\s)#[^\n]*)`,
    String.raw`(?<here><<-?[ \t]*\\?['"]?(?<end>\w+)['"]?)`,
    String.raw`(?<redirect>(?:\d|&)?(?:<<<|>>?\|?|<)(?:&[\d-]|[ \t]*${WORD}+))`,
    String.raw`(?<pipe>\|(?!\|)&?)`,
    String.raw`(?<next>\n|;+|&&?|\|\||[()])`,
    `(?<word>${WORD}+)`,
  ].join('|'),
  'y',
);
/** Shell keywords that a command may follow. */
const KEYWORDS: ReadonlySet<string> = new Set('then do else if elif while until ! {'.split(' '));

/** Returns the pipelines of a command, in order. */
export function pipelinesOf(command: string): readonly Pipeline[] {
  const pipelines: SimpleCommand[][] = [[]];
  let words: string[] = [];
  let redirected = false;
  let input: string | undefined;
  const endings: string[] = [];
  const close = (): void => {
    if (words.length > 0)
      pipelines.at(-1)!.push({ words, redirected, ...(input === undefined ? {} : { input }) });
    words = [];
    redirected = false;
    input = undefined;
  };
  for (let at = 0; at < command.length;) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(command);
    // An open quote or similar: the rest is part of the last word at best.
    at = match === null ? at + 1 : TOKEN.lastIndex;
    const { here, end, redirect, pipe, next, word } = match?.groups ?? {};
    if (here !== undefined) endings.push(end!);
    else if (redirect !== undefined) {
      redirected ||= /^[1&]?>(?!&|\s*\/dev\/(?:stdout|stderr|tty))/.test(redirect);
      const read = /^0?<(?![<&])[ \t]*([^]+)$/.exec(redirect)?.[1];
      if (read !== undefined) input = unquote(read);
    } else if (pipe !== undefined) close();
    else if (next !== undefined) {
      close();
      pipelines.push([]);
      if (next === '\n') at = afterDocuments(command, at, endings);
    } else if (word !== undefined && (words.length > 0 || !KEYWORDS.has(word)))
      words.push(unquote(word));
  }
  close();
  return pipelines.filter((pipeline) => pipeline.length > 0);
}

/** Returns where the text continues after the here-documents opened on the previous line. */
function afterDocuments(command: string, from: number, endings: string[]): number {
  let at = from;
  for (const end of endings.splice(0)) {
    for (;;) {
      const stop = command.indexOf('\n', at);
      const line = command.slice(at, stop < 0 ? command.length : stop);
      at = stop < 0 ? command.length : stop + 1;
      if (line.trim() === end || stop < 0) break;
    }
  }
  return at;
}

function unquote(word: string): string {
  return word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g, (_, a, b, c) => {
    const inner: unknown = a ?? b ?? c;
    return typeof inner === 'string' ? inner : '';
  });
}
