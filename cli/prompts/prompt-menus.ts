/** The questions of `prompts.ts` as menus on a terminal. */
import { confirm, isCancel, multiselect, password, select } from '@clack/prompts';
import { visible } from '../../server/log/visible.ts';
import type { CliContext } from '../context.ts';
import { onEnd } from '../process/signals.ts';
import { cancelledByUser } from './choice.ts';
import type { Choice, Prompts } from './choice.ts';

const ENDS = ['end', 'close', 'error'];

/** Prompts that need a terminal. */
export interface Menus extends Prompts {
  /** Reads a text with hidden input. Also throws `cancelled`. */
  readonly secret: (question: string) => Promise<string>;
}

/** Creates menus on the terminal of `context`. */
export function menuPrompts(context: CliContext): Menus {
  const { stdin: input, stderr: output } = context;
  /** The library handles Ctrl-C and Escape; after Ctrl-D it would wait forever for keys. */
  const prompted = async <T>(
    ask: (on: {
      input: typeof input;
      output: typeof output;
      signal: AbortSignal;
    }) => Promise<T | Cancelled>,
  ): Promise<T> => {
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    const onKey = (_text: unknown, key?: { readonly ctrl?: boolean; readonly name?: string }) => {
      if (key?.ctrl === true && key.name === 'd') leave();
    };
    input.on('keypress', onKey);
    for (const name of ENDS) input.on(name, leave);
    // A signal would end the process with a hidden cursor, or with echo turned off.
    const stopListening = onEnd(context, leave);
    try {
      const chosen = await ask({ input, output, signal: leaving.signal });
      if (isCancel(chosen)) throw cancelledByUser();
      return chosen;
    } finally {
      input.off('keypress', onKey);
      for (const name of ENDS) input.off(name, leave);
      stopListening();
    }
  };
  return {
    confirm: (question, isYes) =>
      prompted((streams) =>
        confirm({ ...streams, message: visible(question), initialValue: isYes }),
      ),
    choose: (question, choices, initial) =>
      prompted((streams) =>
        select({
          ...streams,
          message: visible(question),
          options: choices.map(toOption),
          initialValue: initial,
        }),
      ),
    several: (question, choices) =>
      prompted((streams) =>
        multiselect({
          ...streams,
          message: visible(question),
          options: choices.map(toOption),
          initialValues: choices.map(({ value }) => value),
          required: false,
        }),
      ),
    // The library returns undefined for an empty text.
    secret: async (question) =>
      (await prompted((streams) => password({ ...streams, message: visible(question) }))) ?? '',
    close() {},
  };
}

type Cancelled = Exclude<Awaited<ReturnType<typeof confirm>>, boolean>;

function toOption({ value, label, hint }: Choice): { value: string; label: string; hint?: string } {
  return {
    value,
    label: visible(label),
    ...(hint === undefined ? {} : { hint: visible(hint) }),
  };
}
