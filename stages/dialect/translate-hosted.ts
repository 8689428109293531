/**
 * Tools that a provider defines itself. Those that it also runs can be left out of a conversation
 * in which they were never called: what they did would stand in the history, where the readers
 * refuse it. Those that the client runs are part of its work, and no other model knows them.
 */
import type { ReadRequestContext } from './translate-dialect.ts';
import { cannotCarry } from './translate-errors.ts';

/** Defined by the provider and run by the client: shells, editors, screens, memory folders. */
const RUN_BY_CLIENT =
  /^(?:(?:bash|text_editor|computer|memory)_\d+|computer|computer_use(?:_preview)?|computerUse|local_shell|shell|apply_patch)$/;

/**
 * Notes that the tools of these types are left out. Throws `unprocessable` where the conversation
 * cannot do without them: the client runs one, or the request offers nothing else (`others` is
 * the number of its other tools), as the search requests of coding agents do.
 */
export function leaveOutProviderTools(
  types: readonly string[],
  others: number,
  { providerTools, note }: ReadRequestContext,
): void {
  const needed = types.find((type) => others === 0 || RUN_BY_CLIENT.test(type));
  if (needed !== undefined && providerTools === 'skip') {
    const why = others === 0 ? 'which is all that the request offers' : 'which the client runs';
    throw cannotCarry(`the provider’s own tool ${needed}, ${why}`);
  }
  for (const type of types) note(`tool ${type} left out: only its own provider runs it`);
}
