/** What of an admitted request's head goes on: neither keys of this proxy nor headers that its sender has no right to. */
import { kindByCredential } from '../../stages/dialect/endpoints.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import { headerValue, withoutHeaders } from '../../stages/model/headers.ts';
import { withoutKeys } from '../auth/presented.ts';
import type { Head } from '../auth/presented.ts';
import { headersBeyond } from '../auth/rights.ts';
import type { Admission } from './gate.ts';

/** A head, and how its path is served. */
export interface Served extends Head {
  readonly endpoint: Endpoint;
}

/** The same request as it may go on; `guarded` as in `headersBeyond`. Most are returned as they are. */
export function admittedHead(served: Served, admission: Admission, guarded: boolean): Served {
  const taken = admission.ours === undefined ? served : withoutOurs(served, admission.ours);
  const beyond = headersBeyond(admission.may, guarded);
  if (beyond.length === 0) return taken;
  const headers = withoutHeaders(taken.headers, (name) => beyond.includes(name));
  return { ...taken, headers };
}

/**
 * The field that the key was in still says whose path it is, where several providers have it; and
 * the key still says who asks, in the field that never leaves.
 */
function withoutOurs(served: Served, ours: readonly string[]): Served {
  const { endpoint, headers } = served;
  const isOpen = endpoint.defaultKind === 'by-credential';
  const defaultKind = isOpen ? kindByCredential(headers) : endpoint.defaultKind;
  const rest = withoutKeys(served, ours);
  const isNamed = headerValue(headers, 'x-svc-key') !== undefined;
  return {
    target: rest.target,
    headers: isNamed ? rest.headers : [...rest.headers, 'X-Svc-Key', ours[0] ?? ''],
    endpoint: { ...endpoint, defaultKind },
  };
}
