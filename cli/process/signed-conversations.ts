/**
 * Conversations that would break if svc were stopped or removed: their thinking blocks are signed
 * over the rewritten text.
 */
import { countRewritten } from '../../stages/conversations/store-file.ts';
import { decisionsFile } from '../../server/config/home.ts';
import type { CliContext } from '../context.ts';
import { note } from '../screen/output.ts';

const DAY_MS = 86_400_000;

/** Consequence for these conversations, by what is done to the proxy. */
const CONSEQUENCES = {
  stop: 'can only continue through svc: start it again before you continue them, or start new ones.',
  uninstall:
    'cannot continue without svc: finish them first, start new ones, or let the client drop its thinking.',
  deleted: 'cannot continue: what was sent in them is deleted. Start new ones.',
  update: 'continue as before: what was sent in them is stored.',
} as const;

/** Returns how many conversations of the last day contain rewritten text. */
export function signedConversations(home: string, { clock }: CliContext): Promise<number> {
  return countRewritten(decisionsFile(home), clock.wallMs() - DAY_MS);
}

/** Tells on stderr what becomes of `count` conversations; prints nothing for 0. */
export function noteSigned(
  count: number,
  done: keyof typeof CONSEQUENCES,
  context: CliContext,
): void {
  if (count === 0) return;
  const which = 'Conversations of the last day whose thoughts are signed over what svc sent';
  note(context, `${which}: ${count}. They ${CONSEQUENCES[done]}`);
}
