/** One pattern that matches where any of `parts` does: quicker than one after the other. Their own flags do not count. */
export function anyOf(parts: readonly RegExp[], flags: '' | 'i' = ''): RegExp {
  return new RegExp(parts.map(({ source }) => source).join('|'), flags);
}
