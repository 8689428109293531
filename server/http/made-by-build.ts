/**
 * Locates files that the build puts into `dist/app`, next to the bundled program. The compiled
 * modules of the package use the same copies, so that the package contains each once.
 */

/** Returns the URL of the build file `name`. */
export function madeByBuild(name: string): URL {
  // The bundled module is in that folder itself; the compiled one is in `dist/server/http`.
  const isCompiled = import.meta.url.endsWith('/server/http/made-by-build.js');
  return new URL(isCompiled ? `../../app/${name}` : `./${name}`, import.meta.url);
}
