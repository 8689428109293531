/**
 * Converts a request for one of our own paths to the form that a route receives: a web `Request`
 * with its body already read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancelled, createCanceller } from '../../engine/index.ts';
import { unsupportedMedia } from '../../stages/model/errors.ts';
import { collectBody } from './body.ts';
import { queryOf } from '../gate/target.ts';
import type { InFlight } from './in-flight.ts';
import { isJsonType } from './media-type.ts';

/** Methods whose body, if any, must be JSON. */
const JSON_METHODS = new Set(['POST']);

/**
 * Reads the request body, at most `maxBytes`; undefined if there is none. Throws as
 * `collectBody` does, and 415 for a body that is not JSON.
 */
export async function readOwnBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
  inFlight: InFlight,
): Promise<Buffer | undefined> {
  const method = request.method ?? 'GET';
  if (method === 'GET' || method === 'HEAD') {
    request.resume();
    return undefined;
  }
  const controller = createCanceller();
  response.once('close', () => controller.abort(new Cancelled('client_gone')));
  const body = await collectBody(request, response, maxBytes, inFlight, controller.signal);
  if (body.length > 0 && JSON_METHODS.has(method) && !isJsonType(request.headers['content-type'])) {
    throw unsupportedMedia('This path takes application/json');
  }
  return body.length > 0 ? body : undefined;
}

/**
 * Returns the web `Request` of a message whose route was found. Its URL has the query but no path:
 * a URL parser normalizes paths, and only the path as spelled counts.
 */
export function toOwnRequest(request: IncomingMessage, body: Buffer | undefined): Request {
  const { method = 'GET', rawHeaders, url = '/' } = request;
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  const base = new URL('http://localhost/');
  base.search = queryOf(url);
  if (body === undefined) return new Request(base, { method, headers });
  return new Request(base, { method, headers, body: new Uint8Array(body) });
}
