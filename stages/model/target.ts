/** What a request's target says, as the client wrote it: the path and what follows. */

/** The path, without query or fragment. */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  return end < 0 ? target : target.slice(0, end);
}
