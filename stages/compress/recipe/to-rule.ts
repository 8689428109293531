/** Compiles recipes to compression rules, which run like the built-in ones. */
import { TEXT_CLASSES } from '../../model/classify/classes.ts';
import { endingLines } from '../rules/log/ending-lines.ts';
import { statesFailure } from '../rules/log/outcome.ts';
import { queryLines, namedLines } from '../rules/named-lines.ts';
import type { Rule } from '../rules/rule.ts';
import { OPERATIONS } from './operations.ts';
import { anyPattern } from './pattern.ts';
import type { Recipe, Step } from './recipe.ts';
import { render, type Loss, type Row } from './rows.ts';

/** Number of first lines in which `content` is matched. */
const SEARCHED_LINES = 200;
/** Number of last lines in which `end` is matched: totals, and what the client appends. */
const END_LINES = 40;

/** Compiles recipes. Throws a RangeError for a recipe that `checkRecipe` refuses. */
export function toRules(recipes: readonly Recipe[]): readonly Rule[] {
  const ofAnyCommand = recipes.filter(isSelectedByText);
  const find = createContentFinder(ofAnyCommand.map(({ match }) => match.content ?? []));
  return recipes.map((recipe) => {
    const index = ofAnyCommand.indexOf(recipe);
    if (index >= 0) return toRule(recipe, (text) => find(text).has(index));
    const findOwn = createContentFinder([recipe.match.content ?? []]);
    return toRule(recipe, (text) => findOwn(text).has(0));
  });
}

/**
 * Returns true for a recipe whose conditions concern only the text itself, so that nearly every
 * text has to be checked.
 */
function isSelectedByText({ match }: Recipe): boolean {
  return [match.program, match.command, match.tool, match.path].every((part) => part === undefined);
}

function toRule(recipe: Recipe, hasContent: (text: string) => boolean): Rule {
  const { name, match } = recipe;
  const isEnd = match.end === undefined ? undefined : createEndFinder(match.end);
  return {
    name: `recipe:${name}`,
    when: {
      class: match.class ?? TEXT_CLASSES,
      ...(match.mode !== undefined && { mode: match.mode }),
      ...(match.program !== undefined && { program: match.program }),
      ...(match.language !== undefined && { extension: match.language }),
      ...(match.command !== undefined && { command: anyPattern(match.command) }),
      ...(match.tool !== undefined && { tool: anyPattern(match.tool) }),
      ...(match.path !== undefined && { path: anyPattern(match.path) }),
      ...((match.content !== undefined || match.end !== undefined) && {
        content: (text) =>
          (match.content === undefined || hasContent(text)) && (isEnd?.(text) ?? true),
      }),
    },
    step: 'drop',
    // Line operations never touch ending lines; whole-document operations find no lines.
    endings: 'own',
    isOptional: true,
    ...(recipe.mustKeep.length > 0 && { keeps: anyPattern(recipe.mustKeep) }),
    apply: toApply(recipe),
  };
}

/**
 * Returns the indexes of the lists with a match in a text. It is called once per list, so it
 * searches each text once.
 */
function createContentFinder(
  lists: readonly (readonly string[])[],
): (text: string) => ReadonlySet<number> {
  const isFound = anyPattern(lists.flat());
  const each = lists.map((sources) => (sources.length === 0 ? undefined : anyPattern(sources)));
  let last: { readonly text: string; readonly found: ReadonlySet<number> } | undefined;
  return (text) => {
    if (last?.text === text) return last.found;
    const found = new Set<number>();
    for (const line of firstLines(text)) {
      if (!isFound(line)) continue;
      each.forEach((isOneFound, index) => {
        if (!found.has(index) && isOneFound?.(line) === true) found.add(index);
      });
      if (found.size === each.length) break;
    }
    last = { text, found };
    return found;
  };
}

/** Returns a test for whether a pattern matches in the last lines of a text. */
function createEndFinder(sources: readonly string[]): (text: string) => boolean {
  const isFound = anyPattern(sources);
  return (text) => {
    let end = text.length;
    for (let line = 0; line < END_LINES && end >= 0; line++) {
      const start = end === 0 ? -1 : text.lastIndexOf('\n', end - 1);
      if (isFound(text.slice(start + 1, end))) return true;
      end = start;
    }
    return false;
  };
}

function* firstLines(text: string): Generator<string> {
  let at = 0;
  for (let line = 0; line < SEARCHED_LINES; line++) {
    const end = text.indexOf('\n', at);
    yield text.slice(at, end < 0 ? text.length : end);
    if (end < 0) return;
    at = end + 1;
  }
}

const LOSSES: readonly Loss[] = ['none', 'lines', 'text'];

function runnerOf(step: Step) {
  const operation = OPERATIONS.get(step.name);
  if (operation === undefined) throw new RangeError(`${step.name} is not an operation`);
  return { loss: operation.loss, run: operation.make(step.values) };
}

function toApply({ name, match, mustKeep, operations, onSuccess = [] }: Recipe): Rule['apply'] {
  const mustStay = anyPattern(mustKeep);
  const isAsked = match.unless === undefined ? undefined : anyPattern(match.unless);
  const always = operations.map(runnerOf);
  const ifGood = onSuccess.map(runnerOf);
  return (text, context) => {
    const { classification, isFailed = false } = context;
    if (isAsked !== undefined && queryLines(context).some(isAsked)) return undefined;
    const input = text.split('\n');
    const isGood = ifGood.length > 0 && !isFailed && !statesFailure(input);
    const steps = isGood ? [...always, ...ifGood] : always;
    const isKept = input.map(mustStay);
    const ends = classification.file === true ? new Set<number>() : endingLines(input);
    const named = new Set(namedLines(input, context));
    let rows: readonly Row[] = input.map((line, at) => ({
      text: line,
      at,
      ...((isKept[at]! || ends.has(at) || named.has(at)) && { isProtected: true }),
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
    const missing = firstMissingLine(
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

/** Returns the first line that occurs less often than before; undefined if none does. */
function firstMissingLine(kept: readonly string[], text: string): string | undefined {
  if (kept.length === 0) return undefined;
  const left = new Map<string, number>();
  for (const line of text.split('\n')) left.set(line, (left.get(line) ?? 0) + 1);
  return kept.find((line) => {
    const times = left.get(line) ?? 0;
    left.set(line, times - 1);
    return times <= 0;
  });
}
