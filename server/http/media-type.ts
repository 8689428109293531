/**
 * Decides which bodies are accepted as JSON. A web page can send any other type to this machine
 * without a preflight (Fetch §2.2.2, CORS-safelisted), and old browsers send no header that tells
 * where it came from.
 */
import { unsupportedMedia } from '../../stages/model/errors.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import { KEY_FIELDS, headerValue } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';

/**
 * `application/json`, or any type with a JSON suffix (RFC 6839 §3.1), with or without parameters.
 */
const JSON_TYPE = /^[ \t]*(?:application\/json|[\w.-]+\/[\w.+-]*\+json)[ \t]*(?:;|$)/i;

/** True for the value of a `Content-Type` that names JSON. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType);
}

/** Throws 415 if the body of a conversation or an embeddings request is not JSON. */
export function refuseOtherMedia(endpoint: Endpoint, headers: Headers): void {
  if (!endpoint.isConversation && endpoint.operation !== 'embeddings') return;
  const contentType = headerValue(headers, 'content-type');
  if (isJsonType(contentType)) return;
  const isEmpty = (headerValue(headers, 'content-length') ?? '0') === '0';
  if (isEmpty && headerValue(headers, 'transfer-encoding') === undefined) return;
  const hasKey = KEY_FIELDS.some((name) => headerValue(headers, name) !== undefined);
  if (contentType === undefined && hasKey) return;
  throw unsupportedMedia('This path takes Content-Type: application/json');
}
