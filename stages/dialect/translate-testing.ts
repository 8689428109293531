/** What the tests of translation share: one call each way, readable answers, and one agent's turn. */
import {
  createSignatureCache,
  createTranslator,
  translateRequest,
  type AnswerWishes,
  type SignatureCache,
  type TranslatableDialect,
  type Translator,
} from './translate.ts';

export type Asked = Exclude<ReturnType<typeof translateRequest>, { skip: string }>;

export const PATHS: Record<TranslatableDialect, string> = {
  messages: '/v1/messages?beta=true',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  generative: '/v1beta/models/gemini-3-flash:generateContent',
};

export function ask(
  from: TranslatableDialect,
  to: TranslatableDialect,
  body: unknown,
  more: Partial<Parameters<typeof translateRequest>[3]> = {},
): Asked {
  const options = { target: PATHS[from], signatures: createSignatureCache(), ...more };
  const result = translateRequest(from, to, body, options);
  if ('skip' in result) throw new Error(result.skip);
  return result;
}

export function skipOf(from: TranslatableDialect, to: TranslatableDialect, body: unknown): string {
  const options = { target: PATHS[from], signatures: createSignatureCache() };
  const result = translateRequest(from, to, body, options);
  return 'skip' in result ? result.skip : 'not skipped';
}

export const user = (content: unknown): object => ({ role: 'user', content });

/** A turn of a coding agent: billing line, caching marks, thinking, two calls at once, one failed. */
export const agentTurn = {
  model: 'claude-opus-4-8',
  max_tokens: 32_000,
  stream: true,
  metadata: { user_id: 'u' },
  context_management: { edits: [] },
  newest_field: 1,
  thinking: { type: 'adaptive' },
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=1; cch=ab12;' },
    { type: 'text', text: 'You write code.', cache_control: { type: 'ephemeral' } },
  ],
  tools: [
    { name: 'Bash', description: 'Runs a command', input_schema: { type: 'object' } },
    { name: 'Read', input_schema: { type: 'object', properties: { path: { type: 'string' } } } },
  ],
  messages: [
    user('What is in here?'),
    { role: 'system', content: 'Be brief from now on.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me look.', signature: 'c2ln' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
        { type: 'tool_use', id: 'toolu_2', name: 'Read', input: { path: 'a' } },
      ],
    },
    user([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a\nb' },
      {
        type: 'tool_result',
        tool_use_id: 'toolu_2',
        is_error: true,
        content: [{ type: 'text', text: 'no such file' }],
      },
      { type: 'text', text: 'And now?', cache_control: { type: 'ephemeral' } },
    ]),
  ],
};

export function make(
  from: TranslatableDialect,
  to: TranslatableDialect,
  wishes: Partial<AnswerWishes> = {},
  signatures: SignatureCache = createSignatureCache(),
): Translator {
  let made = 0;
  return createTranslator({
    from,
    to,
    wishes: {
      model: 'asked',
      stream: true,
      includeUsage: true,
      freeformTools: [],
      searchTools: [],
      toolNames: {},
      framing: 'sse',
      ...wishes,
    },
    ids: () => `r${(made += 1)}`,
    now: () => 5000,
    signatures,
  });
}

/** Everything the client gets for these values, as text. */
export function run(one: Translator, values: readonly unknown[]): string {
  const pieces = values.flatMap((value) =>
    one.push({ data: typeof value === 'string' ? value : JSON.stringify(value) }),
  );
  return Buffer.concat([...pieces, ...one.end()]).toString();
}

/** The parsed data of a stream of events. */
export function datas(wire: string): { [key: string]: unknown }[] {
  return wire
    .split('\n\n')
    .flatMap((frame) => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
    .map((text) => JSON.parse(text) as { [key: string]: unknown });
}

export const types = (wire: string): unknown[] => datas(wire).map(({ type }) => type);

export const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'chatcmpl-9',
  created: 7,
  model: 'gpt',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

export const chatStream = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'Hm' }),
  chunk({ content: 'Hel' }),
  chunk({ content: 'lo' }),
  chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
  chunk({ tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '' } }] }),
  chunk({}, 'tool_calls'),
  {
    id: 'chatcmpl-9',
    choices: [],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60 },
    },
  },
  '[DONE]',
];

export const messagesStream = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      model: 'claude',
      usage: { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 3 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'content_block_start',
    index: 3,
    content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
  },
  { type: 'content_block_stop', index: 3 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];
