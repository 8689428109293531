/**
 * What Codex and the SDKs speak on the WebSocket of `/v1/responses`: `response.create` messages, and
 * the events of the stream that a POST would have got. Each message is the POST that it stands for,
 * so that it goes through the same graph; what the provider would remember is kept here.
 */
import type { RawData } from 'ws';
import { SvcError } from '../../engine/index.ts';
import { isObject, jsonTypeOf, parseBody, parseJson } from '../../stages/dialect/json-kind.ts';
import type { JsonObject } from '../../stages/dialect/json-kind.ts';
import { malformedRequest, wrongType } from '../../stages/model/errors.ts';
import { headerList, withoutHeaders } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';
import type { ServedRequest } from '../forward-proxy/opened-hosts.ts';
import { pathOf } from '../gate/target.ts';
import { errorBody, errorStatus } from '../http/error-response.ts';
import type { SocketForm } from '../sink/ws.ts';
import { createContinuation } from './continuation.ts';
import type { ClaimBytes } from './continuation.ts';
import type { Turn } from './continuation.ts';
import { bytesOf } from './protocol.ts';
import type { Asked, SocketProtocol } from './protocol.ts';

export interface ResponsesProtocolOptions {
  /** The path that the connection was opened for, as a POST. */
  readonly served: ServedRequest;
  readonly newId: () => string;
  readonly wallMs: () => number;
  /** Room for what is kept of conversations, that of all connections. */
  readonly claim: ClaimBytes;
}

/** What a client may send to end or to note something that here has no consequence. */
const NOTES: ReadonlySet<string> = new Set(['response.processed']);
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** Fields of the way that an upgrade came (RFC 9110 §7.6.1, RFC 6455 §4.1). */
const OF_UPGRADE =
  /^(?:connection|upgrade|keep-alive|te|trailer|transfer-encoding|content-(?:length|type)|accept|proxy-.*|sec-websocket-.*)$/;
/** Names a protocol of the socket, which a POST does not speak. */
const OF_SOCKET = /^responses_websockets\b/;
/** Fields of an answer that its client looks for. */
const TOLD = /^(?:retry-after(?:-ms)?|x-request-id|x-ratelimit-.*|x-codex-.*)$/;

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

  /** A request to get ready: nothing is generated, and what was sent is gone on from. */
  function readied(turn: Turn, { model }: JsonObject): readonly string[] {
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
    const begun = { ...response, status: 'in_progress' };
    return [
      JSON.stringify({ type: 'response.created', sequence_number: 0, response: begun }),
      JSON.stringify({ type: 'response.completed', sequence_number: 1, response }),
    ];
  }

  return {
    path: pathOf(target),
    // A client opens it ahead of what its user will type.
    firstMessageMs: undefined,
    headersOf,
    read(data: RawData, isBinary: boolean, headers) {
      if (isBinary) throw malformedRequest('Send one JSON text frame per request');
      const bytes = bytesOf(data);
      const message = parseBody(bytes.toString('utf8'));
      if (!isObject(message)) throw wrongType('message', 'object', jsonTypeOf(message));
      const { type, stream_id: streamId, generate } = message;
      if (typeof type === 'string' && NOTES.has(type)) return { replies: [] };
      if (type !== 'response.create')
        throw malformedRequest('On this connection svc takes messages of type response.create');
      if (streamId !== undefined && streamId !== null)
        throw malformedRequest('One conversation a connection goes through svc: open another');
      const turn = continuation.begin(bytes, message);
      if (generate === false) return { replies: readied(turn, message) };
      const form = { ...RESPONSES_FORM, heard: turn.heard };
      return { endpoint, target, headers, bytes: turn.body, gzip: false, form };
    },
    close: continuation.close,
    post: (upgrade, asked: Asked) => ({ ...upgrade, method: 'POST', url: asked.target }),
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

/** An error as the provider says it here: the object of its HTTP answers, with the status beside it. */
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

function toldHeaders(headers: Headers): Record<string, string> {
  const told: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    if (TOLD.test(name)) told[name] = headers[at + 1]!;
  }
  return told;
}

const RESPONSES_FORM: SocketForm = {
  isHeldBack: () => false,
  failureTexts: ({ text, message }, requestId) => [
    text ?? errorText(new SvcError('bad_gateway', message ?? 'The stream failed'), requestId),
  ],
  refusalTexts({ text, status, headers }) {
    const body = parseJson(text);
    const said = isObject(body) ? body['error'] : undefined;
    const message = typeof said === 'string' ? said : `The provider answered with status ${status}`;
    const error = isObject(said) ? said : { type: 'error', code: null, message };
    return [errorFrame(status, error, toldHeaders(headers))];
  },
  documentText: (text) => `{"type":"response.completed","sequence_number":0,"response":${text}}`,
  endTexts: () => [],
  errorText,
};
