/** Compiles a recipe to a rule of compression, which runs as the built-in ones do. */
import { TEXT_CLASSES } from '../../model/classify/classes.ts';
import { endingLines } from '../log/ends.ts';
import type { Rule } from '../rule.ts';
import { Args } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { toPattern } from './pattern.ts';
import type { Recipe } from './recipe.ts';
import { render, type Loss, type Row } from './rows.ts';

/** So many lines of a text are searched for what `content` asks for. */
const SEARCHED_LINES = 200;

/** Throws a RangeError for a recipe that `checkRecipe` refuses. */
export function toRule(recipe: Recipe): Rule {
  const { name, match } = recipe;
  return {
    name: `recipe:${name}`,
    when: {
      class: match.class ?? TEXT_CLASSES,
      ...(match.mode !== undefined && { mode: match.mode }),
      ...(match.program !== undefined && { program: match.program }),
      ...(match.language !== undefined && { extension: match.language }),
      ...(match.command !== undefined && { command: anyOf(match.command) }),
      ...(match.tool !== undefined && { tool: anyOf(match.tool) }),
      ...(match.path !== undefined && { path: anyOf(match.path) }),
      ...(match.content !== undefined && { content: contentOf(match.content) }),
    },
    step: 'drop',
    // No operation on lines drops or changes one of them; those on a whole document find no lines.
    endings: 'own',
    apply: toApply(recipe),
  };
}

function anyOf(sources: readonly string[]): (text: string) => boolean {
  const patterns = sources.map(toPattern);
  return (text) => patterns.some((pattern) => pattern.test(text));
}

function contentOf(sources: readonly string[]): (text: string) => boolean {
  const isFound = anyOf(sources);
  return (text) => {
    let at = 0;
    for (let line = 0; line < SEARCHED_LINES && at <= text.length; line++) {
      const end = text.indexOf('\n', at);
      if (isFound(text.slice(at, end < 0 ? text.length : end))) return true;
      if (end < 0) return false;
      at = end + 1;
    }
    return false;
  };
}

const LOSSES: readonly Loss[] = ['none', 'lines', 'text'];

function toApply({ name, mustKeep, operations }: Recipe): Rule['apply'] {
  const kept = mustKeep.map(toPattern);
  const steps = operations.map((step) => {
    const operation = OPERATIONS.get(step.name);
    if (operation === undefined) throw new RangeError(`${step.name} is no operation`);
    return { loss: operation.loss, run: operation.make(new Args(operation.params, step.values)) };
  });
  return (text, { classification }) => {
    const input = text.split('\n');
    const isKept = input.map((line) => kept.some((pattern) => pattern.test(line)));
    const ends = classification.file === true ? new Set<number>() : endingLines(input);
    let rows: readonly Row[] = input.map((line, at) => ({
      text: line,
      at,
      ...((isKept[at]! || ends.has(at)) && { stays: true }),
    }));
    let loss: Loss = 'none';
    for (const step of steps) {
      const next = step.run(rows);
      if (isSame(next, rows)) continue;
      rows = next;
      loss = LOSSES[Math.max(LOSSES.indexOf(loss), LOSSES.indexOf(step.loss))]!;
    }
    const made = render(input, rows, { name, loss });
    if (made.text === text) return undefined;
    const missing = missingLine(
      input.filter((_, at) => isKept[at]!),
      made.text,
    );
    if (missing === undefined) return made;
    return {
      skipped: `it would lose ${JSON.stringify(missing.slice(0, 80))}, which must_keep names`,
    };
  };
}

function isSame(one: readonly Row[], other: readonly Row[]): boolean {
  return (
    one === other || (one.length === other.length && one.every((row, at) => row === other[at]))
  );
}

/** The first line that stands there less often than it did; undefined where none does. */
function missingLine(kept: readonly string[], text: string): string | undefined {
  if (kept.length === 0) return undefined;
  const left = new Map<string, number>();
  for (const line of text.split('\n')) left.set(line, (left.get(line) ?? 0) + 1);
  return kept.find((line) => {
    const times = left.get(line) ?? 0;
    left.set(line, times - 1);
    return times <= 0;
  });
}
