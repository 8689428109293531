/**
 * Reads a key that is typed or piped, but never given on the command line, where every user of the
 * machine could read it.
 */
import { createInterface } from 'node:readline';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { isTerminal } from '../screen/output.ts';

/**
 * Returns the first line of stdin; on a terminal, asks for it with hidden input. Throws `cancelled`
 * if there is none.
 */
export async function readKey(context: CliContext, question: string): Promise<string> {
  const { stdin, stderr } = context;
  const isTyped = 'isTTY' in stdin && stdin.isTTY === true && isTerminal(stderr);
  const key = isTyped ? await hidden(context, question) : await firstLine(context);
  if (key !== '') return key;
  throw new SvcError('cancelled', 'There was no key: nothing was changed');
}

async function hidden(context: CliContext, question: string): Promise<string> {
  const { menuPrompts } = await import('../prompts/prompt-menus.ts');
  return (await menuPrompts(context).secret(question)).trim();
}

async function firstLine({ stdin }: CliContext): Promise<string> {
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    for await (const line of lines) return line.trim();
    return '';
  } finally {
    lines.close();
  }
}
