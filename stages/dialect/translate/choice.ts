/** Which tools a model may call, where the client names several. */
import type { CanonicalTool, ToolChoice } from '../canonical.ts';

/**
 * The choice among `names`, of which the provider’s own tools are none of `tools`. Where one may be called
 * and none is left, none may be called; a demand keeps every name, so that it is refused and not changed.
 */
export function choiceAmong(
  mode: 'auto' | 'any',
  names: readonly string[],
  tools: readonly CanonicalTool[],
): ToolChoice {
  if (mode === 'any') return { mode, only: names };
  const known = new Set(tools.map(({ name }) => name));
  const only = names.filter((name) => known.has(name));
  return only.length === 0 ? { mode: 'none' } : { mode, only };
}

/** The tools that the choice leaves, for dialects that have no list of names in it. */
export function toolsLeft(
  tools: readonly CanonicalTool[],
  choice: ToolChoice | undefined,
): readonly CanonicalTool[] {
  const { only } = choice ?? {};
  if (only === undefined || choice?.mode === 'none') return tools;
  return tools.filter(({ name }) => only.includes(name));
}
