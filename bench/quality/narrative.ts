/**
 * Measures prose with a known question: the saving, whether the answer survives, and whether the
 * answer to another question, asked only later, survives too.
 */
import { join } from 'node:path';
import { builtIn } from '../../stages/compress/rules/built-in.ts';
import type { Mode } from '../../stages/compress/rules/rule.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { readRecords } from './corpus.ts';

/** A question about a text of several paragraphs, with the strings that answer it. */
export interface Question {
  readonly title: string;
  readonly context: string;
  readonly question: string;
  readonly answers: readonly string[];
}

export interface NarrativeResult {
  readonly mode: Mode;
  readonly cases: number;
  readonly saved: number;
  readonly sameQuery: number;
  readonly laterQuery: number;
  readonly laterCases: number;
}

/** Reads the long questions of a corpus. */
export function readQuestions(corpus: string): readonly Question[] {
  return readRecords<Question>(join(corpus, 'qa/squad_long.jsonl'));
}

/** Reads short questions whose paragraph is in one of the long contexts, to be asked later. */
export function readLaterQuestions(corpus: string): readonly Question[] {
  return readRecords<Question>(join(corpus, 'qa/squad_short.jsonl'));
}

/** Measures a mode over all questions, by each text's detected class. Rates are shares, 0–1. */
export function measureNarrative(
  questions: readonly Question[],
  later: readonly Question[],
  mode: Mode,
  count: CountTokens,
): NarrativeResult {
  let before = 0;
  let after = 0;
  let same = 0;
  let laterKept = 0;
  let laterCases = 0;
  for (const { context, question, answers } of questions) {
    const options = { mode, query: question, maxChars: 120, logBudgetTokens: 3500, hints: {} };
    const out = builtIn.apply(context, options).text;
    before += count(context);
    after += count(out);
    if (answers.some((answer) => out.includes(answer))) same++;
    const laterOnes = laterQuestions({ context, question }, questions, later);
    laterCases += laterOnes.length;
    laterKept += laterOnes.filter((other) =>
      other.answers.some((answer) => out.includes(answer)),
    ).length;
  }
  return {
    mode,
    cases: questions.length,
    saved: 1 - after / before,
    sameQuery: same / questions.length,
    laterQuery: laterCases === 0 ? Number.NaN : laterKept / laterCases,
    laterCases,
  };
}

/** Returns the other questions that the same text answers. */
function laterQuestions(
  { context, question }: Pick<Question, 'context' | 'question'>,
  questions: readonly Question[],
  later: readonly Question[],
): readonly Question[] {
  return [
    ...later.filter((other) => other.question !== question && context.includes(other.context)),
    ...questions.filter((other) => other.question !== question && other.context === context),
  ];
}
