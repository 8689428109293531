/**
 * Removes from an admitted request's head the keys of this proxy and the headers that its sender
 * may not use.
 */
import { kindByCredential } from '../../stages/dialect/endpoints.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import { headerValue, withoutHeaders } from '../../stages/model/headers.ts';
import { withoutKeys } from '../auth/keys-in-request.ts';
import type { Head } from '../auth/keys-in-request.ts';
import { headersBeyond } from '../auth/rights.ts';
import type { Admission } from './gate.ts';

/** A request head and the endpoint for its path. */
export interface Served extends Head {
  readonly endpoint: Endpoint;
}

/**
 * Returns the head that may be forwarded; `guarded` as in `headersBeyond`. Most heads are returned
 * unchanged.
 */
export function admittedHead(served: Served, admission: Admission, guarded: boolean): Served {
  const taken = admission.ours === undefined ? served : withoutOurs(served, admission.ours);
  const beyond = headersBeyond(admission.may, guarded);
  if (beyond.length === 0) return taken;
  const headers = withoutHeaders(taken.headers, (name) => beyond.includes(name));
  return { ...taken, headers };
}

/**
 * Removes our keys. Where several providers share the path, the field that held the key still
 * decides between them; the key also still identifies the caller, in a header that never leaves the
 * process.
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
