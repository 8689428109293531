/** What a request's target says, as the client wrote it: the path and what follows. */

/** The path, without query or fragment. */
export function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  return end < 0 ? target : target.slice(0, end);
}

/** A model with what is asked of it, which is two words in one, or a model alone. */
const NAMED_MODEL =
  /^\/v1(?:alpha|beta1?)?\/models\/(?:(.+):(?:[a-z]+[A-Z][A-Za-z]*|predict)|([^/]+))$/;

/** The model named in a generative path, decoded; undefined elsewhere. */
export function modelInPath(target: string): string | undefined {
  const match = NAMED_MODEL.exec(pathOf(target));
  return match === null ? undefined : decodedName(match[1] ?? match[2]!);
}

/** A name as it stands in a path, decoded; as it is where it was never encoded. */
export function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** `target` with another model in its path; undefined where the path names none. */
export function withModelInPath(target: string, model: string): string | undefined {
  const match = /^(\/v1(?:alpha|beta1?)?\/models\/)[^?#]+(?=:[A-Za-z]+(?:[?#]|$))/.exec(target);
  if (match === null) return undefined;
  return match[1]! + encodeURIComponent(model) + target.slice(match[0].length);
}
