/** Runs a single recipe on a text, for its author, and reports what it saved and kept. */
import { estimateTokens } from '../../model/tokens.ts';
import { rewrite } from '../rules/rewrite.ts';
import type { Mode } from '../rules/rule.ts';
import { anyPattern } from './pattern.ts';
import type { Recipe, RecipeExample } from './recipe.ts';
import { toRules } from './to-rule.ts';

/** The command or tool that produced a text. */
export type SampleOrigin = Pick<RecipeExample, 'command' | 'tool' | 'path'>;

export interface TrialResult {
  readonly text: string;
  /** The class assigned to the text. */
  readonly kind: string;
  /** True if the recipe changed it. */
  readonly isChanged: boolean;
  /** True if the conditions of `match` hold. */
  readonly isMeant: boolean;
  /** Why it skipped a matching text; undefined if it gave no reason. */
  readonly skipped: string | undefined;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Number of lines that `must_keep` matches; `missing` are those that the result lacks. */
  readonly mustKeepLines: number;
  readonly missing: readonly string[];
}

export function tryRecipe(
  recipe: Recipe,
  text: string,
  { command, tool, path }: SampleOrigin,
): TrialResult {
  const mode: Mode = recipe.match.mode?.includes('hybrid') === false ? 'aggressive' : 'hybrid';
  const applied = rewrite(toRules([recipe])).apply(text, {
    mode,
    query: '',
    maxChars: 120,
    logBudgetTokens: 3500,
    hints: {
      ...(command !== undefined && { command, toolName: 'Bash' }),
      ...(path !== undefined && { path, toolName: 'Read' }),
      ...(tool !== undefined && { toolName: tool }),
    },
  });
  const kept = text.split('\n').filter(anyPattern(recipe.mustKeep));
  const resultLines = new Set(applied.text.split('\n'));
  return {
    text: applied.text,
    kind: applied.classification.kind,
    isChanged: applied.by.length > 0,
    isMeant: applied.isTried,
    skipped: applied.skipped?.[0] ?? applied.failed?.[0],
    tokensBefore: estimateTokens(text),
    tokensAfter: estimateTokens(applied.text),
    mustKeepLines: kept.length,
    missing: kept.filter((line) => !resultLines.has(line)),
  };
}

/** Returns the saved share of tokens, in percent. */
export function savedPercent({
  tokensBefore,
  tokensAfter,
}: Pick<TrialResult, 'tokensBefore' | 'tokensAfter'>): number {
  return tokensBefore === 0 ? 0 : (100 * (tokensBefore - tokensAfter)) / tokensBefore;
}

/** Returns what an example shows to be wrong, one sentence per fault; empty if nothing is. */
export function exampleFaults(example: RecipeExample, tried: TrialResult): readonly string[] {
  const { keeps = [], output, saves = 0 } = example;
  const saved = savedPercent(tried);
  const faults = [
    ...tried.missing.map((line) => `must_keep: ${JSON.stringify(line)} is gone`),
    ...keeps
      .filter((one) => !tried.text.includes(one))
      .map((one) => `keeps: ${JSON.stringify(one)} is gone`),
  ];
  if (!tried.isMeant) return [`match does not hold; the text is of class ${tried.kind}`, ...faults];
  if (!tried.isChanged) faults.push(tried.skipped ?? 'it saves nothing here');
  if (saved < saves) faults.push(`it saves ${saved.toFixed(1)} %, not ${saves}`);
  if (output !== undefined && tried.text !== output)
    faults.push(`it gives other text:\n${tried.text}`);
  return faults;
}
