/**
 * The one reading of a request's target. Whoever admits, routes or forwards a request reads
 * the path here, as it was spelled: a path that one of them folds (`/a/../b`, `/a%2fb`, `/a\b`)
 * and another does not is a way around the gate. So none of them folds, and a path of ours in
 * any spelling but its own is no path of ours.
 */

/**
 * The path and query of a request target, also of an absolute one (`http://host/path`),
 * which a server must understand (RFC 9112 §3.2.2). Never goes through a URL parser: `//x`
 * is a path here, not a host.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') || !target.includes('://')) return target;
  const start = target.slice('http://'.length).search(/[/?]/);
  if (start === -1) return '/';
  const rest = target.slice('http://'.length + start);
  return rest.startsWith('?') ? `/${rest}` : rest;
}

/** The path of a target in any form, as it was spelled. */
export function pathOf(target: string): string {
  const form = originForm(target);
  const query = form.indexOf('?');
  return query === -1 ? form : form.slice(0, query);
}

/** What follows the path, from the question mark on; empty where nothing does. */
export function queryOf(target: string): string {
  const form = originForm(target);
  const query = form.indexOf('?');
  return query === -1 ? '' : form.slice(query);
}

/** True for what may stand in a request line as a target: visible ASCII, and no fragment. */
export function isCleanTarget(target: string): boolean {
  return /^[!"$-~]+$/.test(target);
}
