/** Conversations that stopping or leaving svc would hurt: their thoughts are signed over what it sent. */
import { countRewritten } from '../../stages/conversations/store-file.ts';
import { decisionsFile } from '../../server/config/home.ts';
import type { CliContext } from '../context.ts';
import { note } from '../screen/output.ts';

const DAY_MS = 86_400_000;

/** What is done to the proxy, and so what becomes of them. */
const WORDS = {
  stop: 'go on only through svc: start it again before you continue them, or begin new ones.',
  uninstall:
    'cannot go on without svc: finish them first, begin new ones, or let the client drop its thoughts.',
  deleted: 'cannot go on: what was sent in them is deleted. Begin new ones.',
  update: 'go on as before: what was sent in them is remembered.',
} as const;

/** How many conversations of the last day hold what svc has rewritten. */
export function signedConversations(home: string, { clock }: CliContext): Promise<number> {
  return countRewritten(decisionsFile(home), clock.wallMs() - DAY_MS);
}

/** Says on stderr what becomes of `count` conversations; nothing for none. */
export function noteSigned(count: number, done: keyof typeof WORDS, context: CliContext): void {
  if (count === 0) return;
  const which = 'Conversations of the last day whose thoughts are signed over what svc sent';
  note(context, `${which}: ${count}. They ${WORDS[done]}`);
}
