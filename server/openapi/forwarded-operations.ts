/** The operations that are forwarded to providers. */
import { inHeader, inPath, json, withTag } from './operation.ts';
import type { Operation } from './operation.ts';
import { oneOf, ref, text } from './schema.ts';
import type { Schema } from './schema.ts';

const MODE = inHeader(
  'x-svc-mode',
  'Compression mode of this request',
  oneOf('strict', 'hybrid', 'aggressive'),
);
const BYPASS = inHeader(
  'x-svc-bypass',
  '`1` sends the request unchanged; if a plugin adds a stage, other machines need a key with this right',
  oneOf('1'),
);
const CACHE = inHeader('x-svc-cache', '`on` allows a cached response', oneOf('on', 'off'));
const CAPTURE = inHeader(
  'x-svc-capture',
  '`on` records this request for `svc replay`, `off` does not',
  oneOf('on', 'off'),
);
const VERSION = inHeader('anthropic-version', '`2023-06-01` is recommended');
const MODEL = inPath('model', 'Name of the model');
const TEMPLATE = inHeader('x-svc-template', 'Name of a prompt template to fill for this request');
const TEMPLATE_VARS = inHeader(
  'x-svc-template-vars',
  'Values of its variables, as a JSON object of strings',
);
const ALLOW_SPEND = inHeader(
  'x-svc-allow-spend',
  '`once` lets this request exceed a spending limit; other machines need a key with this right',
  oneOf('once'),
);
const MACRO = inHeader(
  'x-svc-macro',
  'Name of a macro to use as a stage for this conversation from now on; other machines need a key with this right',
);
const SKILL = inHeader('x-svc-skill', 'The skill that `svc attribution` counts this request to');
const PROJECT = inHeader(
  'x-svc-project',
  'The project that this request is for; by default that of the key, or the working directory that the prompt of a known agent names',
);
const OURS = [
  MODE,
  BYPASS,
  CACHE,
  CAPTURE,
  TEMPLATE,
  TEMPLATE_VARS,
  ALLOW_SPEND,
  MACRO,
  SKILL,
  PROJECT,
];
const UPSTREAM_ERRORS = [400, 402, 413, 415, 502, 504];
const stream = { 'text/event-stream': text, 'application/x-ndjson': text };
const free: Schema = { type: 'object', additionalProperties: true };

/** Forwarded paths; the provider's own error responses are passed through. */
export const forwardedOperations: readonly Operation[] = [
  ...withTag('Proxied', {
    'post /v1/messages': {
      summary: 'Messages, streamed or not',
      parameters: [VERSION, ...OURS],
      request: ref('MessagesRequest'),
      response: { ...json(ref('MessagesAnswer')), ...stream },
      errors: UPSTREAM_ERRORS,
    },
    'post /v1/messages/count_tokens': {
      summary: 'Tokens of a request, counted by the provider',
      parameters: [VERSION],
      request: free,
      response: json(free),
      errors: [404, ...UPSTREAM_ERRORS],
    },
    'post /v1/chat/completions': {
      summary: 'Chat completions, streamed or not',
      parameters: OURS,
      request: ref('ChatRequest'),
      response: { ...json(ref('ChatAnswer')), ...stream },
      errors: UPSTREAM_ERRORS,
    },
    'post /v1/responses': {
      summary: 'Responses, streamed or not',
      description: 'A WebSocket upgrade gets 426: clients then continue over HTTP.',
      parameters: OURS,
      request: ref('AnyRequest'),
      response: { ...json(free), ...stream },
      errors: [...UPSTREAM_ERRORS, 426],
    },
    'post /v1/embeddings': {
      summary: 'Embeddings, passed through unchanged',
      request: free,
      response: json(free),
      errors: UPSTREAM_ERRORS,
    },
    'get /v1/models': {
      summary: 'The models that can be requested',
      response: json(free),
      errors: UPSTREAM_ERRORS,
    },
    'get /v1/models/:model': {
      summary: 'One model',
      parameters: [MODEL],
      response: json(free),
      errors: [404, ...UPSTREAM_ERRORS],
    },
    'post /v1beta/models/:model:generateContent': {
      summary: 'Generative content',
      parameters: [MODEL, ...OURS],
      request: ref('AnyRequest'),
      response: json(free),
      errors: UPSTREAM_ERRORS,
    },
    'post /v1beta/models/:model:streamGenerateContent': {
      summary:
        'Generative content, streamed: as events with `?alt=sse` or `?$alt=sse`, else as one array',
      parameters: [MODEL, ...OURS],
      request: ref('AnyRequest'),
      response: { ...json(free), ...stream },
      errors: UPSTREAM_ERRORS,
    },
    'get /ws': {
      summary: 'The same over WebSocket',
      description:
        'An upgrade, also on the WebSocket port. Each text frame is a request (`model`, `messages`, `max_tokens`, `stream`, `api_key`); events come as text frames, or gzip-compressed binary ones.',
      errors: [426],
    },
  }),
];
