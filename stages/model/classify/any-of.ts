/**
 * One pattern that matches wherever any of `parts` does: faster than one after the other. Their own
 * flags are ignored.
 */
export function anyOf(parts: readonly RegExp[], flags: '' | 'i' = ''): RegExp {
  return new RegExp(parts.map(({ source }) => source).join('|'), flags);
}
