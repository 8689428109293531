/** Runs one recipe alone on one text, and says what it saved and kept: for its author. */
import { estimateTokens } from '../../model/tokens.ts';
import { rewrite } from '../rules/rewrite.ts';
import type { Mode } from '../rules/rule.ts';
import { anyPattern } from './pattern.ts';
import type { Recipe, RecipeExample } from './recipe.ts';
import { toRules } from './to-rule.ts';

/** What a text was printed or read by. */
export type From = Pick<RecipeExample, 'command' | 'tool' | 'path'>;

export interface Tried {
  readonly text: string;
  /** What the text was taken for. */
  readonly kind: string;
  /** True where the recipe changed it. */
  readonly isChanged: boolean;
  /** True where `match` holds. */
  readonly isMeant: boolean;
  /** Why it left alone what it was meant for; undefined where it did not say. */
  readonly skipped: string | undefined;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Lines that `must_keep` names, and those of them that are not there any more. */
  readonly mustKeepLines: number;
  readonly missing: readonly string[];
}

export function tryRecipe(recipe: Recipe, text: string, { command, tool, path }: From): Tried {
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
  const there = new Set(applied.text.split('\n'));
  return {
    text: applied.text,
    kind: applied.classification.kind,
    isChanged: applied.by.length > 0,
    isMeant: applied.isTried,
    skipped: applied.skipped?.[0] ?? applied.failed?.[0],
    tokensBefore: estimateTokens(text),
    tokensAfter: estimateTokens(applied.text),
    mustKeepLines: kept.length,
    missing: kept.filter((line) => !there.has(line)),
  };
}

/** Share of the tokens that is gone, in percent. */
export function savedPercent({
  tokensBefore,
  tokensAfter,
}: Pick<Tried, 'tokensBefore' | 'tokensAfter'>): number {
  return tokensBefore === 0 ? 0 : (100 * (tokensBefore - tokensAfter)) / tokensBefore;
}

/** What an example shows to be wrong, a sentence each; nothing where it holds. */
export function exampleFaults(example: RecipeExample, tried: Tried): readonly string[] {
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
