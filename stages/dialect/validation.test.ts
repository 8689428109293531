import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { DialectName } from '../model/dialect.ts';
import { dialects } from './registry.ts';

const TARGETS: Readonly<Record<DialectName, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  generative: '/v1beta/models/g-1:streamGenerateContent?alt=sse',
  opaque: '/v1/files',
};

const TURN = [{ role: 'user', content: 'hi' }];

/** Each fault as `dialect, body, code, message`; without a message the body is valid. */
const FAULTS: readonly (readonly [DialectName, unknown, string?])[] = [
  ['messages', { model: 'm', messages: TURN, max_tokens: 1 }],
  ['messages', { messages: TURN, max_tokens: 1 }, 'Missing required field: model'],
  ['messages', { model: 'm', max_tokens: 1 }, 'Missing required field: messages'],
  ['messages', { model: 'm', messages: TURN }, 'Missing required field: max_tokens'],
  [
    'messages',
    { model: 'm', messages: TURN, max_tokens: '10' },
    "Field 'max_tokens' must be an integer, got string",
  ],
  [
    'messages',
    { model: 'm', messages: TURN, max_tokens: 1.5 },
    "Field 'max_tokens' must be an integer, got number",
  ],
  [
    'messages',
    { model: 'm', messages: TURN, max_tokens: null },
    "Field 'max_tokens' must be an integer, got null",
  ],
  [
    'messages',
    { model: 7, messages: TURN, max_tokens: 1 },
    "Field 'model' must be a string, got integer",
  ],
  [
    'messages',
    { model: 'm', messages: 'hi', max_tokens: 1 },
    "Field 'messages' must be an array, got string",
  ],
  [
    'messages',
    { model: 'm', messages: {}, max_tokens: 1 },
    "Field 'messages' must be an array, got object",
  ],
  [
    'messages',
    { model: 'm', messages: [], max_tokens: 1 },
    "Field 'messages' must be a non-empty array, got empty array",
  ],
  [
    'messages',
    { model: 'm', messages: TURN, max_tokens: 1, stream: 'yes' },
    "Field 'stream' must be a boolean, got string",
  ],
  ['messages', { model: 'm', messages: [7], max_tokens: 1, system: [], other: {} }],
  ['messages', [], "Field 'body' must be an object, got array"],
  ['messages', null, "Field 'body' must be an object, got null"],
  ['messages', 'x', "Field 'body' must be an object, got string"],
  ['chat', { model: 'm', messages: TURN }],
  ['chat', { model: 'm', messages: TURN, max_tokens: null, stream: null }],
  ['chat', { messages: TURN }, 'Missing required field: model'],
  [
    'chat',
    { model: 'm', messages: TURN, max_tokens: true },
    "Field 'max_tokens' must be an integer, got boolean",
  ],
  [
    'chat',
    { model: 'm', messages: TURN, max_completion_tokens: [] },
    "Field 'max_completion_tokens' must be an integer, got array",
  ],
  ['responses', { model: 'm', input: 'hi' }],
  ['responses', { prompt: { id: 'pmpt_1' } }],
  ['responses', { input: 'hi' }, 'Missing required field: model'],
  ['responses', { model: 'm', input: 7 }, "Field 'input' must be a string or array, got integer"],
  ['generative', { contents: [{ parts: [{ text: 'hi' }] }] }],
  ['generative', {}, 'Missing required field: contents'],
  ['opaque', 'anything'],
];

for (const [name, body, message] of FAULTS) {
  test(`${name} ${JSON.stringify(body)}: ${message ?? 'valid'}`, () => {
    const fault = dialects[name].validate(body, TARGETS[name]);
    assert.is(fault?.message, message);
    if (message === undefined) return;
    assert.is(fault?.kind, 'bad_request');
    assert.is(fault?.code, message.startsWith('Missing') ? 'VALIDATION_002' : 'VALIDATION_003');
  });
}

test.run();
