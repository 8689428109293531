/**
 * Questions to the person at the keyboard. With a terminal they are menus; without one each is a
 * line that is read from stdin, so that a script can answer. They are asked on stderr: stdout is
 * for results. No answer is never a yes.
 */
import { createInterface } from 'node:readline';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { givenUp } from './choice.ts';
import type { Choice, Prompts } from './choice.ts';
import { isTerminal, note } from '../screen/output.ts';

/** Prompts for this terminal, or lines where there is none or it wants no colour. */
export async function openPrompts(context: CliContext): Promise<Prompts> {
  const { stdin, stderr, env } = context;
  const isPlain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const isTyped = 'isTTY' in stdin && stdin.isTTY === true;
  if (!isTyped || !isTerminal(stderr) || isPlain) return linePrompts(context);
  const { menuPrompts } = await import('./prompt-menus.ts');
  return menuPrompts(context);
}

function linePrompts(context: CliContext): Prompts {
  const lines = createInterface({ input: context.stdin, terminal: false });
  const typed = lines[Symbol.asyncIterator]();
  /** The next line, unless Ctrl-C comes first. */
  const nextLine = () =>
    new Promise<IteratorResult<string, unknown>>((resolve, reject) => {
      const leave = () => {
        // The terminal has written ^C, and no line after it.
        note(context, '');
        reject(givenUp());
      };
      context.events.on('SIGINT', leave);
      typed
        .next()
        .then(resolve, reject)
        .finally(() => context.events.off('SIGINT', leave));
    });
  /** Asks until `read` understands the answer; an empty one is ''. */
  const ask = async <T>(
    question: readonly string[],
    read: (answer: string) => T | undefined,
  ): Promise<T> => {
    for (;;) {
      for (const line of question) note(context, line);
      const next = await nextLine();
      if (next.done === true)
        throw new SvcError('cancelled', 'The input ended before an answer: nothing was changed', {
          cure: 'Type the answers, or agree to all that is proposed with --yes.',
        });
      const answer = read(next.value.trim());
      if (answer !== undefined) return answer;
      note(context, `'${next.value.trim()}' is none of the answers.`);
    }
  };
  return {
    confirm: (question, isYes) =>
      ask([`${question} [${isYes ? 'Y/n' : 'y/N'}]`], (answer) => {
        if (answer === '') return isYes;
        if (/^y(?:es)?$/i.test(answer)) return true;
        return /^no?$/i.test(answer) ? false : undefined;
      }),
    choose: (question, choices, initial) =>
      ask([question, ...numbered(choices), `Number or name [${initial}]`], (answer) =>
        answer === '' ? initial : valueOf(choices, answer),
      ),
    several: (question, choices) =>
      ask(
        [question, ...numbered(choices), 'Numbers or names with spaces, or none [all]'],
        (answer) => {
          if (answer === '' || answer === 'all') return choices.map(({ value }) => value);
          if (answer === 'none') return [];
          const values = answer.split(/[\s,]+/).map((word) => valueOf(choices, word));
          return values.every((value) => value !== undefined) ? values : undefined;
        },
      ),
    close: () => lines.close(),
  };
}

function numbered(choices: readonly Choice[]): readonly string[] {
  const width = Math.max(...choices.map(({ label }) => label.length));
  return choices.map(({ label, hint = '' }, at) =>
    `  ${at + 1}  ${label.padEnd(width)}  ${hint}`.trimEnd(),
  );
}

function valueOf(choices: readonly Choice[], answer: string): string | undefined {
  const wanted = answer.toLowerCase();
  return choices.find(
    ({ value, label }, at) =>
      String(at + 1) === wanted || value === wanted || label.toLowerCase() === wanted,
  )?.value;
}
