/** The values of steps: parsed by their parameters' types, with variables filled in. */
import { SvcError } from '../../engine/index.ts';
import { fillPlaceholders, isScalar, valuesOf } from '../model/placeholders.ts';
import { actionOf } from './actions.ts';
import type { Param } from './actions.ts';
import type { Macro, MacroStep, WrittenStep } from './macro.ts';

export type ReadValue =
  | { readonly ok: true; readonly value: string | number | boolean | readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Maximum length of a value. */
const MAX_CHARS = 4096;

/** Parses a value for its parameter. `message` continues after the parameter's name. */
export function readValue(param: Param, value: unknown): ReadValue {
  if (param.kind === 'texts') {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (list.length > 0 && list.every(isText)) return { ok: true, value: list };
    return refused('is a text or a list of texts', value);
  }
  // A name such as 4.10 or true is meant as written.
  const text = isScalar(value) ? String(value) : undefined;
  if (text === undefined || !isText(text)) return refused('is one line of text', value);
  if (param.kind === 'text') return { ok: true, value: text };
  if (param.kind === 'flag')
    return text === 'true' || text === 'false'
      ? { ok: true, value: text === 'true' }
      : refused('is true or false', value);
  if (param.kind === 'word')
    return param.words.includes(text)
      ? { ok: true, value: text }
      : refused(`is ${param.words.join(' or ')}`, value);
  const { min, max } = param;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return count >= min && count <= max
    ? { ok: true, value: count }
    : refused(`is a number from ${min} to ${max}`, value);
}

/** One line: control characters would reach terminals and file names. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= MAX_CHARS &&
  !/\p{Cc}/u.test(value);

function refused(expected: string, value: unknown): ReadValue {
  const printable = JSON.stringify(value) ?? String(value);
  return { ok: false, message: `${expected}, not ${printable.slice(0, 80)}` };
}

/**
 * Returns the steps with all values filled in. Throws `bad_request` listing all faults: missing or
 * unknown variables, and values that a step does not accept.
 */
export function fillMacro(
  { name, variables, steps }: Macro,
  given: ReadonlyMap<string, string>,
): readonly MacroStep[] {
  const { values, faults } = valuesOf(variables, given);
  if (faults.length > 0) {
    const [first] = variables.filter((each) => each.default === undefined && !given.has(each.name));
    const known = variables.map((each) => each.name).join(', ') || 'none';
    throw new SvcError('bad_request', `Macro ${name} ${faults.join(', ')}`, {
      cure:
        first === undefined
          ? `Its variables: ${known}.`
          : `Give it with --var ${first.name}=…${first.about === undefined ? '' : ` (${first.about})`}. Its variables: ${known}.`,
    });
  }
  const filled = steps.map((step, at) => fillStep(step, at + 1, values));
  const wrong = filled.flatMap((one) => one.faults);
  if (wrong.length > 0)
    throw new SvcError(
      'bad_request',
      `Macro ${name} cannot run with these values:\n${wrong.map((one) => `  - ${one}`).join('\n')}`,
    );
  return filled.map(({ step }) => step);
}

function fillStep(
  { action, values: written }: WrittenStep,
  number: number,
  variables: ReadonlyMap<string, string>,
): { readonly step: MacroStep; readonly faults: readonly string[] } {
  const faults: string[] = [];
  const step: Record<string, unknown> = { action };
  const fill = (value: unknown): unknown =>
    typeof value === 'string'
      ? fillPlaceholders(value, (name) => variables.get(name) ?? '')
      : value;
  for (const [name, param] of Object.entries(actionOf(action).params)) {
    const value = written[name] ?? param.default;
    if (value === undefined || value === null) continue;
    const read = readValue(param, Array.isArray(value) ? value.map(fill) : fill(value));
    if (read.ok) step[name] = read.value;
    else faults.push(`step ${number} (${action}): ${name} ${read.message}`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every parameter was read above
  return { step: step as unknown as MacroStep, faults };
}
