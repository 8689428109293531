/**
 * The one reading of a request target. Admission, routing and forwarding all read the path here, as
 * spelled: if one of them normalized a path (`/a/../b`, `/a%2fb`, `/a\b`) and another did not, that
 * would bypass the gate. So none of them normalizes, and one of our paths in any other spelling is
 * not ours.
 */

/**
 * Returns the path and query of a request target, including an absolute one (`http://host/path`),
 * which a server must understand (RFC 9112 §3.2.2). Never uses a URL parser: `//x` is a path here,
 * not a host.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') || !target.includes('://')) return target;
  const start = target.slice('http://'.length).search(/[/?]/);
  if (start === -1) return '/';
  const rest = target.slice('http://'.length + start);
  return rest.startsWith('?') ? `/${rest}` : rest;
}

/** Returns the path of a target in any form, as spelled. */
export function pathOf(target: string): string {
  const form = originForm(target);
  const query = form.indexOf('?');
  return query === -1 ? form : form.slice(0, query);
}

/** Returns the query from the question mark on; empty if there is none. */
export function queryOf(target: string): string {
  const form = originForm(target);
  const query = form.indexOf('?');
  return query === -1 ? '' : form.slice(query);
}

/** True for a valid target in a request line: visible ASCII, without a fragment. */
export function isCleanTarget(target: string): boolean {
  return /^[!"$-~]+$/.test(target);
}
