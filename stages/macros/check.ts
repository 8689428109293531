/** Checks a macro as written, and reports all faults at once. */
import { isObject } from '../dialect/json-kind.ts';
import { FILE_NAME } from '../named-files.ts';
import { isScalar, placeholdersOf, toVariable, VARIABLE_NAME } from '../model/placeholders.ts';
import type { Variable } from '../model/placeholders.ts';
import type { ReportFault, WrittenFault } from '../model/written-fault.ts';
import { ACTIONS, actionOf, isActionName } from './actions.ts';
import type { ActionName, Param } from './actions.ts';
import type { Macro, StepValues, WrittenStep } from './macro.ts';
import { readValue } from './values.ts';

export type CheckedMacro =
  | { readonly ok: true; readonly macro: Macro }
  | { readonly ok: false; readonly faults: readonly WrittenFault[] };

export const MAX_STEPS = 100;
const FIELDS = ['name', 'description', 'variables', 'steps'];
const VARIABLE_FIELDS = ['default', 'about'];

/** `name`: the required name; without it the macro names itself. */
export function checkMacro(value: unknown, name?: string): CheckedMacro {
  const faults: WrittenFault[] = [];
  const report: ReportFault = (path, message) => void faults.push({ path, message });
  if (!isObject(value))
    return { ok: false, faults: [{ path: [], message: 'not a macro: expected a map with steps' }] };
  for (const field of Object.keys(value))
    if (!FIELDS.includes(field))
      report([field], `is not a macro field; known are ${FIELDS.join(', ')}`);
  const { name: written = name, description = '', variables: declared, steps: listed } = value;
  if (typeof written !== 'string' || !FILE_NAME.test(written))
    report(['name'], 'must consist of lower-case letters, digits, - and _');
  else if (name !== undefined && written !== name)
    report(['name'], `is ${JSON.stringify(written)}, but the macro is called ${name}`);
  if (typeof description !== 'string') report(['description'], 'is a text');
  const variables = checkVariables(declared, report);
  const steps = checkSteps(listed, new Set(variables.map((each) => each.name)), report);
  const used = new Set(steps.flatMap(({ values }) => namesIn(values)));
  // A step that is not understood may be the one that uses it.
  if (faults.length === 0)
    for (const { name: each } of variables)
      if (!used.has(each)) report(['variables', each], 'is used in no step');
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    macro: { name: String(written), description: String(description), variables, steps },
  };
}

function checkVariables(declared: unknown, report: ReportFault): readonly Variable[] {
  if (declared === undefined || declared === null) return [];
  if (!isObject(declared)) {
    report(['variables'], 'is a map of names, each with its default, or with default and about');
    return [];
  }
  return Object.entries(declared).map(([name, given]) => {
    const path = ['variables', name];
    if (!VARIABLE_NAME.test(name))
      report(path, 'is not a valid name: a letter, then letters, digits, - and _');
    if (isObject(given)) {
      for (const [field, one] of Object.entries(given))
        if (!VARIABLE_FIELDS.includes(field) || !isScalar(one))
          report(
            [...path, field],
            'is not understood; a variable has default and about, both texts',
          );
    } else if (given !== null && !isScalar(given))
      report(path, 'is its default, or a map with default and about');
    return toVariable(name, given);
  });
}

function checkSteps(
  listed: unknown,
  variables: ReadonlySet<string>,
  report: ReportFault,
): readonly WrittenStep[] {
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_STEPS) {
    report(['steps'], `is a list of 1 to ${MAX_STEPS} steps`);
    return [];
  }
  const steps = (listed as unknown[]).flatMap((entry, at) => {
    const path = ['steps', String(at)];
    const [name, values] = stepOf(entry);
    if (name === undefined) {
      report(
        path,
        'is the name of an action, alone or as the only key of a map with its parameters',
      );
      return [];
    }
    if (!isActionName(name)) {
      const [where, subject] = isObject(entry)
        ? [[...path, name], '']
        : [path, `${JSON.stringify(name)} `];
      report(where, `${subject}is not an action; known are ${Object.keys(ACTIONS).join(', ')}`);
      return [];
    }
    if (values === undefined) {
      report([...path, name], 'is a map of its parameters');
      return [];
    }
    checkValues(name, values, variables, [...path, name], report);
    if (name === 'settings' && Object.keys(values).length === 0)
      report([...path, name], `names no setting; known are ${paramNames(name)}`);
    return [{ action: name, values, path: [...path, name] }];
  });
  refuseMixed(steps, report);
  return steps.map(({ action, values }) => ({ action, values }));
}

/** A stage is for unattended requests: an action that a person runs cannot be a step of one. */
function refuseMixed(
  steps: readonly (WrittenStep & { readonly path: readonly string[] })[],
  report: ReportFault,
): void {
  if (!steps.some(({ action }) => isStageAction(action))) return;
  for (const { action, path } of steps)
    if (!isStageAction(action))
      report(
        path,
        'is run by a person alone: `recipes` and `settings` make a macro a stage, which takes no other steps',
      );
}

const isStageAction = (name: ActionName): boolean => actionOf(name).inStage === true;
const paramNames = (name: ActionName): string =>
  Object.keys(actionOf(name).params).join(', ') || 'none';

/** `pause`, or `{debug: {on: true}}`. */
function stepOf(
  entry: unknown,
): readonly [name: string | undefined, values: StepValues | undefined] {
  if (typeof entry === 'string') return [entry, {}];
  if (!isObject(entry)) return [undefined, undefined];
  const [[name, values] = [undefined, undefined], ...more] = Object.entries(entry);
  if (more.length > 0) return [undefined, undefined];
  return [name, values === null ? {} : isObject(values) ? values : undefined];
}

function checkValues(
  name: ActionName,
  values: StepValues,
  variables: ReadonlySet<string>,
  path: readonly string[],
  report: ReportFault,
): void {
  const { params } = actionOf(name);
  const known = paramNames(name);
  for (const given of Object.keys(values))
    if (!Object.hasOwn(params, given))
      report([...path, given], `is not a parameter; known are ${known}`);
  for (const [param, one] of Object.entries(params)) {
    const value = values[param];
    if (value === undefined || value === null) {
      if (one.default === undefined) report(path, `needs ${param}: ${lowered(one)}`);
      continue;
    }
    const undeclared = namesIn({ value }).filter((each) => !variables.has(each));
    for (const each of undeclared)
      report([...path, param], `names the variable ${each}, which variables does not declare`);
    // A value filled from a variable is only known when the macro runs.
    if (namesIn({ value }).length > 0) continue;
    const read = readValue(one, value);
    if (!read.ok) report([...path, param], read.message);
  }
}

/**
 * Formats the part at a path with counting from one: `steps.0.debug.on` is `step 1 (debug): on`.
 */
export function macroPart(path: readonly string[]): string {
  const [part, at, action, ...rest] = path;
  if (part !== 'steps' || at === undefined) return path.join('.');
  const step = `step ${Number(at) + 1}`;
  if (action === undefined) return step;
  return rest.length === 0 ? `${step} (${action})` : `${step} (${action}): ${rest.join('.')}`;
}

const lowered = ({ about }: Param): string => about.charAt(0).toLowerCase() + about.slice(1);

/** Returns the variables used in the texts of a step. */
function namesIn(values: StepValues): readonly string[] {
  return Object.values(values)
    .flat()
    .flatMap((value) => (typeof value === 'string' ? placeholdersOf(value) : []));
}
