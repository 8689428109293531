/**
 * Which bodies are taken as JSON. A web page can send any other kind to this machine without
 * being asked about it (Fetch §2.2.2, CORS-safelisted), in old browsers without a trace of
 * where it came from.
 */
import { unsupportedMedia } from '../../stages/model/errors.ts';
import type { Endpoint } from '../../stages/model/endpoint.ts';
import { KEY_FIELDS, headerValue } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';

/** `application/json`, or any type whose suffix says that it is JSON (RFC 6839 §3.1), with parameters or without. */
const JSON_TYPE = /^[ \t]*(?:application\/json|[\w.-]+\/[\w.+-]*\+json)[ \t]*(?:;|$)/i;

/** True for the value of a `Content-Type` that names JSON. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType);
}

/** Throws 415 for the body of a conversation, or of texts to embed, that does not come as JSON. */
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
