/** The names that a question and a call contain: identifiers, quoted words, line numbers. */
import { isObject } from '../../../dialect/json-kind.ts';
import { originHints } from '../../pass/block-label.ts';
import type { ConversationBlock } from '../../pass/blocks.ts';

/** Search terms for a long text. */
export interface SearchTerms {
  /** Searched for in every line, case-sensitively: names that cannot be everyday words. */
  readonly exact: readonly string[];
  /** Searched for in outline entries, in lower case: any meaningful word. */
  readonly words: ReadonlySet<string>;
  /** Line numbers. */
  readonly lines: readonly number[];
}

const QUOTED = /`([^`\n]{2,80})`|"([^"\n]{2,80})"|'([^'\n]{2,80})'/g;
const WORD = /[A-Za-z_$][\w$]*(?:(?:\.|::|->|-)[A-Za-z_$][\w$]*)*/g;
/** An underscore or digit inside, a capital after a small letter, or capitals alone. */
const IDENTIFIER = /[A-Za-z]_|_[A-Za-z]|[a-z][A-Z]|[A-Za-z]\d|^[A-Z]{3,}$|::|->/;
const LINE = /\bline[s ]*(\d{1,6})(?:\s*(?:-|–|to)\s*(\d{1,6}))?|\.\w{1,8}:(\d{1,6})\b/gi;
const MAX_EXACT = 40;
const MIN_WORD_CHARS = 4;
const PATH_PARAMETERS =
  /^(?:file_?path|path|filename|file|dir(?:ectory)?|cwd|workdir|description)$/i;
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'this that with from have what when where which there their they them then than will would should could into ' +
    'about after before again please make makes made need needs want does doing done work works working look looks ' +
    'find file files line lines code show read write change changes fix mend test tests other some only also just ' +
    'very more most such each every because while like using used uses here your'
  ).split(' '),
);

/** Collects the names in the newest question at a tool result and in the call that produced it. */
export function searchTermsOf(query: string, call: ConversationBlock): SearchTerms {
  const searched = `${query}\n${inputWords(call)}`;
  const quotes = [...searched.matchAll(QUOTED)].map(([, ...parts]) => parts.find(Boolean) ?? '');
  const found = [...searched.matchAll(WORD)].map(([word]) => word);
  const exact = [...quotes, ...found.filter((word) => IDENTIFIER.test(word))].filter((text) =>
    /\w{2}/.test(text),
  );
  const words = found
    .flatMap((word) => [word, ...word.split(/\W+/)])
    .map((word) => word.toLowerCase())
    .filter((word) => word.length >= MIN_WORD_CHARS && !STOP_WORDS.has(word));
  return {
    exact: [...new Set(exact)].slice(0, MAX_EXACT),
    words: new Set(words),
    lines: [...searched.matchAll(LINE)].flatMap(([, from, to, only]) => [
      ...new Set([from, to, only].filter((text) => text !== undefined).map(Number)),
    ]),
  };
}

/**
 * Returns the quoted parts of a command, or all values of another input except paths, which say
 * where to look and not what for.
 */
function inputWords(call: ConversationBlock): string {
  const { command } = originHints(call);
  if (command !== undefined)
    return [...command.slice(0, 2000).matchAll(QUOTED)].map(([whole]) => whole).join(' ');
  if (!isObject(call.toolInput)) return '';
  return Object.entries(call.toolInput)
    .flatMap(([key, value]) =>
      typeof value === 'string' && key !== 'command' && !PATH_PARAMETERS.test(key) ? [value] : [],
    )
    .join('\n')
    .slice(0, 2000);
}

/**
 * Returns true if the name of an outline entry contains one of the words: `OrderParser` for
 * `parser`.
 */
export function containsTerm(name: string, words: ReadonlySet<string>): boolean {
  const lower = name.toLowerCase();
  if (words.has(lower)) return true;
  return name
    .slice(0, 200)
    .split(/[^A-Za-z0-9]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .some((part) => words.has(part.toLowerCase()));
}
