/**
 * The protocol of Codex and the SDKs on the WebSocket of `/v1/responses`: `response.create`
 * messages, answered with the events of the equivalent stream. Each message becomes a POST, so that
 * it goes through the same graph; state that the provider would keep for a connection is kept here.
 */
import type { RawData } from 'ws';
import { SvcError } from '../../engine/index.ts';
import { isObject, jsonTypeOf, parseBody, parseJson } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { malformedRequest, wrongType } from '../../stages/model/errors.ts';
import { headerList, withoutHeaders } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';
import type { ServedRequest } from '../forward-proxy/intercepted-hosts.ts';
import { pathOf } from '../gate/target.ts';
import { errorBody, errorStatus } from '../http/error-response.ts';
import type { SocketForm } from '../sink/ws.ts';
import { createContinuation } from './continuation.ts';
import type { ClaimBytes } from './continuation.ts';
import type { Turn } from './continuation.ts';
import { bytesOf } from './protocol.ts';
import type { MessagePost, SocketProtocol } from './protocol.ts';

export interface ResponsesProtocolOptions {
  /** The path for which the connection was opened, as a POST. */
  readonly served: ServedRequest;
  readonly newId: () => string;
  readonly wallMs: () => number;
  /** Memory budget for kept conversations, shared by all connections. */
  readonly claim: ClaimBytes;
}

/** Client messages that need no action here. */
const IGNORED_TYPES: ReadonlySet<string> = new Set(['response.processed']);
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** Headers about the upgrade itself (RFC 9110 §7.6.1, RFC 6455 §4.1). */
const OF_UPGRADE =
  /^(?:connection|upgrade|keep-alive|te|trailer|transfer-encoding|content-(?:length|type)|accept|proxy-.*|sec-websocket-.*)$/;
/** A beta name for the WebSocket protocol, which does not apply to a POST. */
const OF_SOCKET = /^responses_websockets\b/;
/** Response headers that the client reads. */
const CLIENT_HEADERS = /^(?:retry-after(?:-ms)?|x-request-id|x-ratelimit-.*|x-codex-.*)$/;

export function createResponsesProtocol({
  served,
  newId,
  wallMs,
  claim,
}: ResponsesProtocolOptions): SocketProtocol {
  const { endpoint, target } = served;
  const continuation = createContinuation((bytes) =>
    bytes <= MAX_KEPT_BYTES ? claim(bytes) : undefined,
  );

  /**
   * Answers a warm-up request: nothing is generated, and the input becomes the base of the next
   * turn.
   */
  function warmedUp(turn: Turn, { model }: JsonObject): readonly string[] {
    const id = `resp_${newId()}`;
    turn.endEmpty(id);
    const response = {
      id,
      object: 'response',
      created_at: Math.floor(wallMs() / 1000),
      status: 'completed',
      error: null,
      incomplete_details: null,
      model,
      output: [],
      usage: null,
    };
    const started = { ...response, status: 'in_progress' };
    return [
      JSON.stringify({ type: 'response.created', sequence_number: 0, response: started }),
      JSON.stringify({ type: 'response.completed', sequence_number: 1, response }),
    ];
  }

  return {
    path: pathOf(target),
    // A client opens the connection before its user types.
    firstMessageMs: undefined,
    headersOf,
    read(data: RawData, isBinary: boolean, headers) {
      if (isBinary) throw malformedRequest('Send one JSON text frame per request');
      const bytes = bytesOf(data);
      const message = parseBody(bytes.toString('utf8'));
      if (!isObject(message)) throw wrongType('message', 'object', jsonTypeOf(message));
      const { type, stream_id: streamId, generate } = message;
      if (typeof type === 'string' && IGNORED_TYPES.has(type)) return { replies: [] };
      if (type !== 'response.create')
        throw malformedRequest('On this connection svc takes messages of type response.create');
      if (streamId !== undefined && streamId !== null)
        throw malformedRequest('One conversation a connection goes through svc: open another');
      const turn = continuation.begin(bytes, message);
      if (generate === false) return { replies: warmedUp(turn, message) };
      const form = { ...RESPONSES_FORM, onEvent: turn.onEvent };
      return { endpoint, target, headers, bytes: turn.body, gzip: false, form };
    },
    close: continuation.close,
    post: (upgrade, request: MessagePost) => ({ ...upgrade, method: 'POST', url: request.target }),
    errorText,
  };
}

function headersOf(raw: Headers): string[] {
  const named = (headerList(raw, 'connection') ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.trim());
  const kept = withoutHeaders(raw, (name) => OF_UPGRADE.test(name) || named.includes(name));
  const fields: string[] = [];
  for (let at = 0; at + 1 < kept.length; at += 2) {
    const value =
      kept[at]!.toLowerCase() === 'openai-beta' ? withoutSocket(kept[at + 1]!) : kept[at + 1]!;
    if (value !== '') fields.push(kept[at]!, value);
  }
  return [...fields, 'Content-Type', 'application/json', 'Accept', 'text/event-stream'];
}

function withoutSocket(list: string): string {
  return list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => !OF_SOCKET.test(one))
    .join(', ');
}

/**
 * Formats an error as the provider does on a WebSocket: the error object of its HTTP responses,
 * plus the status.
 */
function errorFrame(status: number, error: unknown, headers: object = {}): string {
  return JSON.stringify({ type: 'error', status, error, headers });
}

function errorText(error: SvcError, requestId: string): string {
  const { error: object } = parseBody(errorBody(error, requestId).toString('utf8')) as JsonObject;
  const seconds = error.retryAfterS;
  return errorFrame(errorStatus(error), object, {
    'x-request-id': requestId,
    ...(seconds !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(seconds))) }),
  });
}

function headersForClient(headers: Headers): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    if (CLIENT_HEADERS.test(name)) fields[name] = headers[at + 1]!;
  }
  return fields;
}

const RESPONSES_FORM: SocketForm = {
  isHeldBack: () => false,
  failureTexts: ({ text, message }, requestId) => [
    text ?? errorText(new SvcError('bad_gateway', message ?? 'The stream failed'), requestId),
  ],
  refusalTexts({ text, status, headers }) {
    const body = parseJson(text);
    const errorMember = isObject(body) ? body['error'] : undefined;
    const message =
      typeof errorMember === 'string' ? errorMember : `The provider answered with status ${status}`;
    const error = isObject(errorMember) ? errorMember : { type: 'error', code: null, message };
    return [errorFrame(status, error, headersForClient(headers))];
  },
  documentText: (text) => `{"type":"response.completed","sequence_number":0,"response":${text}}`,
  endTexts: () => [],
  errorText,
};
