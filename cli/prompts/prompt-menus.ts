/** The questions of `prompts.ts` as menus on a terminal. */
import { confirm, isCancel, multiselect, select } from '@clack/prompts';
import { visible } from '../../server/log/visible.ts';
import type { CliContext } from '../context.ts';
import { givenUp } from './choice.ts';
import type { Choice, Prompts } from './choice.ts';

/** Menus on the terminal of `context`. */
export function menuPrompts({ stdin: input, stderr: output }: CliContext): Prompts {
  const on = { input, output };
  return {
    confirm: async (question, isYes) =>
      answered(await confirm({ ...on, message: visible(question), initialValue: isYes })),
    choose: async (question, choices, initial) =>
      answered(
        await select({
          ...on,
          message: visible(question),
          options: choices.map(toOption),
          initialValue: initial,
        }),
      ),
    several: async (question, choices) =>
      answered(
        await multiselect({
          ...on,
          message: visible(question),
          options: choices.map(toOption),
          initialValues: choices.map(({ value }) => value),
          required: false,
        }),
      ),
    close() {},
  };
}

type Cancelled = Exclude<Awaited<ReturnType<typeof confirm>>, boolean>;

function answered<T>(answer: T | Cancelled): T {
  if (isCancel(answer)) throw givenUp();
  return answer;
}

function toOption({ value, label, hint }: Choice): { value: string; label: string; hint?: string } {
  return {
    value,
    label: visible(label),
    ...(hint === undefined ? {} : { hint: visible(hint) }),
  };
}
