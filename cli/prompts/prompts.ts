/**
 * Questions to the user. On a terminal they are menus; otherwise each reads a line from stdin, so
 * that a script can answer. They are printed on stderr, since stdout is for results. A missing
 * answer never means yes.
 */
import { createInterface } from 'node:readline';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { cancelledByUser } from './choice.ts';
import type { Choice, Prompts } from './choice.ts';
import { isTerminal, note } from '../screen/output.ts';

/** Opens menus on a terminal, or line prompts if there is none or it wants no colour. */
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
  /** Returns the next line, unless Ctrl-C comes first. */
  const nextLine = () =>
    new Promise<IteratorResult<string, unknown>>((resolve, reject) => {
      const leave = () => {
        // The terminal has printed ^C without a newline.
        note(context, '');
        reject(cancelledByUser());
      };
      context.events.on('SIGINT', leave);
      typed
        .next()
        .then(resolve, reject)
        .finally(() => context.events.off('SIGINT', leave));
    });
  /** Asks until `read` accepts the answer; an empty one is ''. */
  const ask = async <T>(
    question: readonly string[],
    read: (reply: string) => T | undefined,
  ): Promise<T> => {
    for (;;) {
      for (const line of question) note(context, line);
      const next = await nextLine();
      if (next.done === true)
        throw new SvcError('cancelled', 'The input ended before an answer: nothing was changed', {
          cure: 'Type the answers, or accept all proposals with --yes.',
        });
      const value = read(next.value.trim());
      if (value !== undefined) return value;
      note(context, `'${next.value.trim()}' is not one of the choices.`);
    }
  };
  return {
    confirm: (question, isYes) =>
      ask([`${question} [${isYes ? 'Y/n' : 'y/N'}]`], (reply) => {
        if (reply === '') return isYes;
        if (/^y(?:es)?$/i.test(reply)) return true;
        return /^no?$/i.test(reply) ? false : undefined;
      }),
    choose: (question, choices, initial) =>
      ask([question, ...numbered(choices), `Number or name [${initial}]`], (reply) =>
        reply === '' ? initial : valueOf(choices, reply),
      ),
    several: (question, choices) =>
      ask(
        [question, ...numbered(choices), 'Numbers or names with spaces, or none [all]'],
        (reply) => {
          if (reply === '' || reply === 'all') return choices.map(({ value }) => value);
          if (reply === 'none') return [];
          const values = reply.split(/[\s,]+/).map((word) => valueOf(choices, word));
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

function valueOf(choices: readonly Choice[], reply: string): string | undefined {
  const wanted = reply.toLowerCase();
  return choices.find(
    ({ value, label }, at) =>
      String(at + 1) === wanted || value === wanted || label.toLowerCase() === wanted,
  )?.value;
}
