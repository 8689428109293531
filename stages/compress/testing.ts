/** Settings, texts and grammars that tests and measurements of compression share. */
import type { TextClass } from '../model/classify/classes.ts';
import type { ApplyContext } from './rewrite.ts';
import { createCodeTools, grammarFor } from './code/code-tools.ts';
import type { CommentLines, CompressContext, Mode } from './rule.ts';
import {
  compressConversation,
  type BlockOutcome,
  type ConversationOptions,
} from './conversation/conversation.ts';

/** What a compressor knows of a text of this class, with no question asked. */
export function contextFor(kind: TextClass): CompressContext {
  return {
    mode: 'hybrid',
    classification: { kind },
    query: '',
    maxChars: 120,
    logBudgetTokens: 3500,
  };
}

/** What a log made by `make` is read with, and how large it may stay. */
export function makeLog(logBudgetTokens: number): ApplyContext {
  return { mode: 'hybrid', query: '', maxChars: 120, logBudgetTokens, hints: { command: 'make' } };
}

/** So many lines, each made from its number. */
export function times(count: number, line: (n: number) => string): string[] {
  return Array.from({ length: count }, (_, n) => line(n));
}

/** Settings under which every block may be made smaller. */
export const CONVERSATION: ConversationOptions = {
  mode: 'hybrid',
  maxChars: 120,
  thresholdTokens: 0,
  logBudgetTokens: 800,
};

/** A build of 400 lines, one of which says what failed. */
export const LOG = Array.from({ length: 400 }, (_, n) =>
  n === 250 ? 'src/app.ts:3:1 - error TS2322: wrong' : `Compiling module-${n} v0.${n}.1`,
).join('\n');

/** A source file of 80 lines, none of which stands there twice. */
export const SOURCE = Array.from(
  { length: 80 },
  (_, n) => `export const value${n} = load('key-${n}');`,
).join('\n');

/** A long paragraph of sentences, each of which has facts of its own. */
export const PROSE = Array.from(
  { length: 60 },
  (_, n) =>
    `In the year ${1800 + n} the town of Harbour${n} grew by a few houses and lost one of its bridges. `,
).join('');

/** Forty sentences alike, a paragraph each about a town. */
export const TOWNS = Array.from(
  { length: 40 },
  (_, n) =>
    `The town number ${n} lies by a river and has a market of its own. Its harbour was built of granite by ${n + 3} masons over many long and rainy summers, as people there like to tell visitors.`,
);

/** Two long paragraphs, and between them a short one that holds what someone may ask for. */
export const STORY = `${TOWNS.slice(0, 20).join(' ')}\n\nThe lighthouse keeper of Corvo was called Almeida. See \`config.yaml\` for the rest. You must never drop this sentence.\n\n${TOWNS.slice(20).join(' ')}`;

/** Lines of source, some of them blank. */
export const SOURCE_LINES = Array.from({ length: 60 }, (_, n) =>
  n % 7 === 3 ? '' : `const value${n} = call(${n}, 'some text');`,
);

/** A diff of one file, as git prints it, from lines that carry their sign. */
export function diffOf(path: string, lines: readonly string[], heading = ''): string {
  const count = (signs: string): number => lines.filter((line) => signs.includes(line[0]!)).length;
  const [old, fresh] = [count('- '), count('+ ')];
  const start = (lineCount: number): number => (lineCount === 0 ? 0 : 1);
  const mode =
    old === 0 ? ['new file mode 100644'] : fresh === 0 ? ['deleted file mode 100644'] : [];
  return [
    `diff --git a/${path} b/${path}`,
    ...mode,
    'index 1234567..89abcde',
    old === 0 ? '--- /dev/null' : `--- a/${path}`,
    fresh === 0 ? '+++ /dev/null' : `+++ b/${path}`,
    `@@ -${start(old)},${old} +${start(fresh)},${fresh} @@${heading}`,
    ...lines,
    '',
  ].join('\n');
}

/** The + and − lines of source, in order; those of file headers are none. */
export function changesOf(diff: string): readonly string[] {
  return diff
    .split('\n')
    .filter((line) => /^[+-](?!(?:--|\+\+) (?:[ab]\/|\/dev\/null))/.test(line));
}

/** Comment ranges of source, with the grammars for `extensions` loaded. */
export async function loadCodeTools(extensions: readonly string[]): Promise<CommentLines> {
  const tools = createCodeTools();
  for (const name of new Set(extensions.map(grammarFor)))
    if (name !== undefined) await tools.load(name);
  return tools.commentLines;
}

/** What goes out for the result of a tool behind a question. */
export function result(
  text: string,
  toolName: string,
  toolInput: unknown,
  mode: Mode,
): BlockOutcome {
  const blocks = [
    {
      index: 0,
      role: 'user',
      kind: 'user_text',
      text: 'Why does the value of the name fail?',
      protectedReason: 'typed',
    },
    { index: 1, role: 'tool', kind: 'tool_result', text, toolName, toolInput },
  ] as const;
  return compressConversation(blocks, {
    mode,
    maxChars: 120,
    thresholdTokens: 0,
    logBudgetTokens: 3500,
  })[1]!;
}
