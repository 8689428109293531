/** Checks the content of a recipe file and reports all faults at once. */
import { isObject } from '../../dialect/json-kind.ts';
import { TEXT_CLASSES } from '../../model/classify/classes.ts';
import type { ReportFault, WrittenFault } from '../../model/written-fault.ts';
import { argFaults, listOf, patternsFault, type Values } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import type { Recipe, RecipeExample, RecipeFile, RecipeMatch } from './recipe.ts';

export type CheckedRecipe =
  | { readonly ok: true; readonly file: RecipeFile }
  | { readonly ok: false; readonly faults: readonly WrittenFault[] };

export const RECIPE_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MODES = ['hybrid', 'aggressive'];
const FIELDS = [
  'name',
  'description',
  'match',
  'must_keep',
  'operations',
  'on_success',
  'examples',
];
export const MAX_OPERATIONS = 40;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The kind of value that each part of `match` takes. */
export const MATCH_PARTS: Readonly<
  Record<
    keyof RecipeMatch,
    {
      readonly kind: 'words' | 'patterns';
      readonly words?: readonly string[];
      readonly about: string;
    }
  >
> = {
  class: { kind: 'words', words: TEXT_CLASSES, about: 'What the text is, by its shape' },
  mode: { kind: 'words', words: MODES, about: 'Modes in which it runs; both if left out' },
  tool: { kind: 'patterns', about: "Found in the tool's name" },
  program: { kind: 'words', about: 'A program that the command ran' },
  command: { kind: 'patterns', about: 'Found in the command' },
  path: { kind: 'patterns', about: 'Found in the path of the file that was read' },
  language: { kind: 'words', about: 'File extensions, lower case, without the dot' },
  content: { kind: 'patterns', about: 'Found in one of the first 200 lines of the text' },
  end: { kind: 'patterns', about: 'Found in one of its last 40 lines' },
  unless: {
    kind: 'patterns',
    about: 'Not found in what the newest question and the call ask for',
  },
};

export function checkRecipe(value: unknown): CheckedRecipe {
  const faults: WrittenFault[] = [];
  const report: ReportFault = (path, message) => void faults.push({ path, message });
  if (!isObject(value))
    return {
      ok: false,
      faults: [{ path: [], message: 'is not a recipe: a map with name, match and operations' }],
    };
  for (const name of Object.keys(value))
    if (!FIELDS.includes(name))
      report([name], `is not a recipe field; known are ${FIELDS.join(', ')}`);
  const { name, description = '', match, must_keep: mustKeep, examples = [] } = value;
  const { operations = [], on_success: onSuccess = [] } = value;
  if (!isText(name) || !RECIPE_NAME.test(name))
    report(['name'], 'must consist of lower-case letters, digits and -');
  if (typeof description !== 'string') report(['description'], 'must be a text');
  checkMatch(match, report);
  const mustKeepFault = mustKeep === undefined ? undefined : patternsFault(mustKeep);
  if (mustKeepFault !== undefined) report(['must_keep'], mustKeepFault);
  if (isEmpty(operations) && isEmpty(onSuccess))
    report(['operations'], `must be a list of 1 to ${MAX_OPERATIONS} operations`);
  const steps = checkOperations('operations', operations, mustKeep === undefined, report);
  const later = checkOperations('on_success', onSuccess, mustKeep === undefined, report);
  const checkedExamples = checkExamples(examples, report);
  if (faults.length > 0) return { ok: false, faults };
  const recipe: Recipe = {
    name: String(name),
    description: String(description),
    match: Object.fromEntries(
      Object.entries(match as Readonly<Record<string, unknown>>).map(([part, one]) => [
        part,
        listOf(one),
      ]),
    ),
    mustKeep: listOf(mustKeep),
    operations: steps,
    ...(later.length > 0 && { onSuccess: later }),
  };
  return { ok: true, file: { recipe, examples: checkedExamples } };
}

function checkMatch(match: unknown, report: ReportFault): void {
  if (!isObject(match) || Object.keys(match).length === 0)
    return report(
      ['match'],
      `must say which texts the recipe is for: ${Object.keys(MATCH_PARTS).join(', ')}`,
    );
  for (const [part, value] of Object.entries(match)) {
    const known = Object.hasOwn(MATCH_PARTS, part)
      ? MATCH_PARTS[part as keyof RecipeMatch]
      : undefined;
    if (known === undefined) {
      report(
        ['match', part],
        `is not a condition; known are ${Object.keys(MATCH_PARTS).join(', ')}`,
      );
      continue;
    }
    const fault = known.kind === 'patterns' ? patternsFault(value) : wordsFault(value, known.words);
    if (fault !== undefined) report(['match', part], fault);
  }
}

function wordsFault(value: unknown, words: readonly string[] | undefined): string | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0 || !list.every(isText)) return 'must be a text or a list of texts';
  const strange = words === undefined ? undefined : list.find((one) => !words.includes(one));
  return strange === undefined
    ? undefined
    : `cannot be ${JSON.stringify(strange)}; known are ${words!.join(', ')}`;
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function checkOperations(
  field: 'operations' | 'on_success',
  value: unknown,
  isLossless: boolean,
  report: ReportFault,
): Recipe['operations'] {
  if (!Array.isArray(value) || value.length > MAX_OPERATIONS) {
    report([field], `must be a list of 1 to ${MAX_OPERATIONS} operations`);
    return [];
  }
  return (value as unknown[]).flatMap((entry, at) => {
    const path = [field, String(at)];
    const [name, values] = operationOf(entry);
    if (name === undefined || values === undefined) {
      report(
        path,
        'must be the name of an operation, alone or as the only key of a map with its parameters',
      );
      return [];
    }
    const operation = OPERATIONS.get(name);
    if (operation === undefined) {
      report(
        path,
        `${JSON.stringify(name)} is not an operation; \`svc recipe operations\` lists them`,
      );
      return [];
    }
    for (const fault of argFaults(operation, values)) report([...path, name], `${name} ${fault}`);
    if (isLossless && operation.loss !== 'none')
      report(
        [...path, name],
        `${name} can lose something: say in must_keep which lines stay to the letter, or use operations that lose nothing (${losslessNames().join(', ')})`,
      );
    return [{ name, values }];
  });
}

const losslessNames = (): readonly string[] =>
  [...OPERATIONS].filter(([, { loss }]) => loss === 'none').map(([name]) => name);

/** Reads the name and values of `strip_ansi` or `{keep_head: {lines: 3}}`. */
function operationOf(entry: unknown): readonly [string | undefined, Values | undefined] {
  if (isText(entry)) return [entry, {}];
  if (!isObject(entry)) return [undefined, undefined];
  const [[name, values] = [undefined, undefined], ...more] = Object.entries(entry);
  if (more.length > 0) return [undefined, undefined];
  return [name, values === null ? {} : isObject(values) ? values : undefined];
}

const EXAMPLE_TEXTS = ['command', 'tool', 'path', 'from', 'made', 'input', 'file', 'output'];

function checkExamples(value: unknown, report: ReportFault): readonly RecipeExample[] {
  if (!Array.isArray(value)) {
    report(['examples'], 'must be a list');
    return [];
  }
  return (value as unknown[]).flatMap((entry, at) => {
    const path = ['examples', String(at)];
    if (!isObject(entry)) {
      report(path, 'must be a map with from, made, and input or file');
      return [];
    }
    for (const [name, one] of Object.entries(entry)) {
      if (EXAMPLE_TEXTS.includes(name) ? typeof one === 'string' : false) continue;
      if (name === 'keeps' && Array.isArray(one) && one.every(isText)) continue;
      if (name === 'saves' && typeof one === 'number' && one >= 0 && one <= 100) continue;
      report(
        [...path, name],
        `is not understood; an example has ${EXAMPLE_TEXTS.join(', ')}, keeps and saves`,
      );
    }
    const { from = '', made = 'run', input, file } = entry;
    if (made !== 'run' && made !== 'hand') report([...path, 'made'], 'must be run or hand');
    if ((input === undefined) === (file === undefined))
      report(path, 'must have either input or file');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field was checked above
    return [{ ...entry, from, made } as unknown as RecipeExample];
  });
}
