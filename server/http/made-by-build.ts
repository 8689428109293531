/**
 * Files that the build leaves in `dist/app`, beside the bundled program. The compiled modules of the
 * package find them there too, so that it holds each once.
 */

/** Where `name` lies. */
export function madeByBuild(name: string): URL {
  // Bundled, this module lies in that folder itself; compiled, in `dist/server/http`.
  const isCompiled = import.meta.url.endsWith('/server/http/made-by-build.js');
  return new URL(isCompiled ? `../../app/${name}` : `./${name}`, import.meta.url);
}
