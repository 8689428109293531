/**
 * Tools that a provider defines itself. Those that it also runs can be left out of a conversation
 * in which they were never called: calls would be in the history, where the readers refuse them.
 * Those that the client runs are part of its work, and no other model knows them.
 */
import type { ReadRequestContext } from './dialect.ts';
import { cannotCarry } from './errors.ts';

/**
 * Defined by the provider and run by the client: shells, editors, screens, browsers, memory
 * folders.
 */
const RUN_BY_CLIENT =
  /^(?:(?:bash|text_editor|computer|browser|memory)(?:_toolset)?_\d+|computer|computer_use(?:_preview)?|computerUse|local_shell|shell|apply_patch)$/;

/** Types of tools that the client declares itself, and of searches among those. */
const DECLARED = /^(?:function|custom|namespace|tool_search.*)$/;

/** Returns true for the type of a tool that its provider runs itself. */
export function runsAtProvider(type: string): boolean {
  return !DECLARED.test(type) && !RUN_BY_CLIENT.test(type);
}

/**
 * Notes that the tools of these types are left out. Throws `unprocessable` if the conversation
 * requires them: the client runs one, or the request offers nothing else (`others` is the number of
 * its other tools), like the search requests of coding agents.
 */
export function leaveOutProviderTools(
  types: readonly string[],
  others: number,
  { providerTools, note }: ReadRequestContext,
): void {
  const [first] = types;
  // Without it there would be an answer, but not to the request.
  if (first !== undefined && others === 0)
    throw cannotCarry(`the provider’s own tool ${first}, which is all that the request offers`);
  const needed = types.find((type) => RUN_BY_CLIENT.test(type));
  if (needed !== undefined && providerTools === 'skip')
    throw cannotCarry(`the provider’s own tool ${needed}, which the client runs`);
  for (const type of types) note(`tool ${type} left out: only its own provider runs it`);
}
