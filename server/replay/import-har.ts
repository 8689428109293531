/**
 * Reads HAR 1.2 files (http://www.softwareishard.com/blog/har-12-spec/), as browsers and proxies
 * save them.
 */
import { isObject } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { isHopByHop } from '../../stages/model/headers.ts';
import type { ForeignExchange } from './foreign-exchange.ts';

/** Headers of the connection, or about an encoding that the HAR has already undone. */
const LEFT_OUT = new Set(['host', 'content-length', 'content-encoding', 'accept-encoding']);

/** Returns the exchanges under `log`. */
export function readHar(log: JsonObject): { exchanges: ForeignExchange[]; notes: string[] } {
  const entries = Array.isArray(log['entries']) ? (log['entries'] as unknown[]) : [];
  const exchanges: ForeignExchange[] = [];
  let unread = 0;
  for (const [index, entry] of entries.entries()) {
    const exchange = isObject(entry) ? toExchange(entry, index) : undefined;
    if (exchange === undefined) unread += 1;
    else exchanges.push(exchange);
  }
  const notes =
    unread === 0 ? [] : [`${unread} entries without a request or an answer were left out`];
  return { exchanges, notes };
}

function toExchange(entry: JsonObject, index: number): ForeignExchange | undefined {
  const { request, response } = entry;
  if (!isObject(request) || !isObject(response)) return undefined;
  const url = parseUrl(textOf(request['url']));
  const status = Number(response['status']);
  if (url === undefined || !(status >= 100 && status <= 999)) return undefined;
  const path = url.pathname + url.search;
  const startedMs = Date.parse(textOf(entry['startedDateTime']));
  const content = isObject(response['content']) ? response['content'] : {};
  const posted = isObject(request['postData']) ? request['postData'] : {};
  return {
    id: `har_${index + 1}`,
    startedMs: Number.isNaN(startedMs) ? 0 : startedMs,
    durationMs: Math.max(0, Number(entry['time']) || 0),
    method: textOf(request['method']).toUpperCase(),
    // Everything before the version belongs to the provider's base address.
    target: path.replace(/^.*?(?=\/v1(?:beta)?\/)/, ''),
    headers: fieldsOf(request['headers']),
    body: bytesOf(posted),
    status,
    answerHeaders: fieldsOf(response['headers']),
    answer: bytesOf(content),
    client: null,
    sessionId: null,
  };
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function bytesOf(content: JsonObject): Buffer {
  return Buffer.from(textOf(content['text']), content['encoding'] === 'base64' ? 'base64' : 'utf8');
}

function fieldsOf(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return (list as unknown[]).flatMap((field) => {
    if (!isObject(field)) return [];
    const name = textOf(field['name']);
    const lower = name.toLowerCase();
    // HTTP/2 pseudo-headers begin with a colon.
    if (name === '' || name.startsWith(':') || isHopByHop(lower) || LEFT_OUT.has(lower)) return [];
    return [name, textOf(field['value'])];
  });
}
