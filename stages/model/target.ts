/** Parts of a request's target, as the client wrote it: the path and what follows. */

/** Returns the path, without query or fragment. */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  return end < 0 ? target : target.slice(0, end);
}

/** A model with a method (camel case, two words), or a model alone. */
const NAMED_MODEL =
  /^\/v1(?:alpha|beta1?)?\/models\/(?:(.+):(?:[a-z]+[A-Z][A-Za-z]*|predict)|([^/]+))$/;

/** Returns the decoded model named in a generative path; undefined elsewhere. */
export function modelInPath(target: string): string | undefined {
  const match = NAMED_MODEL.exec(pathOf(target));
  return match === null ? undefined : decodedName(match[1] ?? match[2]!);
}

/** Returns a name from a path, decoded; unchanged if it was never encoded. */
export function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Returns `target` with another model in its path; undefined if the path names none. */
export function withModelInPath(target: string, model: string): string | undefined {
  const match = /^(\/v1(?:alpha|beta1?)?\/models\/)[^?#]+(?=:[A-Za-z]+(?:[?#]|$))/.exec(target);
  if (match === null) return undefined;
  return match[1]! + encodeURIComponent(model) + target.slice(match[0].length);
}
