/** Which tools a model may call, if the client names several. */
import type { CanonicalTool, ToolChoice } from '../canonical.ts';

/**
 * Returns the choice among `names`; the provider’s own tools are not in `tools`. If none of the
 * names is left, `auto` becomes no tools; a forced choice keeps every name, so that it is refused
 * rather than changed.
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

/** Returns the tools that the choice leaves, for dialects without a list of names in it. */
export function toolsLeft(
  tools: readonly CanonicalTool[],
  choice: ToolChoice | undefined,
): readonly CanonicalTool[] {
  const { only } = choice ?? {};
  if (only === undefined || choice?.mode === 'none') return tools;
  return tools.filter(({ name }) => only.includes(name));
}
