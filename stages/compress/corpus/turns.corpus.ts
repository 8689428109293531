/** Recorded conversations as clients send them, turn by turn, in each dialect that is rewritten. */
import type { CorpusTranscript } from '../../../fixtures/corpus.ts';

/** Every request of a conversation. */
export interface Turns {
  readonly id: string;
  readonly dialect: 'messages' | 'chat' | 'responses';
  readonly target: string;
  /** The bodies, each with everything that was sent before it; made when asked for. */
  readonly count: number;
  body(turn: number): Buffer;
}

type Json = Readonly<Record<string, unknown>>;

const MARKER = { cache_control: { type: 'ephemeral' } };
const MARKER_TEXT = `,${JSON.stringify(MARKER).slice(1, -1)}`;
const END = ']}';

/** What of a body must stand at the beginning of the next one: all but its end, and the markers that move. */
export function lastingPart(body: Buffer): string {
  const text = body.toString('latin1').replaceAll(MARKER_TEXT, '');
  return text.slice(0, -END.length);
}

/** A transcript in the messages dialect, with cache markers as Claude Code sets them: on the system prompt and on the newest block. */
export function messagesTurns(transcript: CorpusTranscript): Turns {
  const { id, system, tools, messages } = transcript;
  const listed = messages.map(({ role, content }) =>
    role === 'user' && typeof content === 'string'
      ? { role, content: [{ type: 'text', text: content }] }
      : { role, content },
  );
  const texts = listed.map((message) => JSON.stringify(message));
  const head = open('messages', {
    max_tokens: 1024,
    ...(system === undefined ? {} : { system: marked(blocksOf(system)) }),
    ...(tools === undefined ? {} : { tools }),
  });
  const ends = endsOf(transcript);
  return {
    id,
    dialect: 'messages',
    target: '/v1/messages?beta=true',
    count: ends.length,
    body(turn) {
      const end = ends[turn]!;
      const newest = listed[end - 1]!;
      const last = { ...newest, content: marked(newest.content) };
      return join(head, [...texts.slice(0, end - 1), JSON.stringify(last)]);
    },
  };
}

const blocksOf = (system: unknown): unknown =>
  typeof system === 'string' ? [{ type: 'text', text: system }] : system;

function marked(content: unknown): unknown {
  if (!Array.isArray(content) || content.length === 0) return content;
  const blocks: readonly unknown[] = content;
  return [...blocks.slice(0, -1), { ...(blocks.at(-1) as Json), ...MARKER }];
}

/** A transcript in the chat dialect. */
export function chatTurns(transcript: CorpusTranscript): Turns {
  const system = { role: 'system', content: joinedText(transcript.system) };
  const said = transcript.messages.map(({ role, content }) => chatMessages(role, content));
  return {
    ...rest(transcript, open('messages', {}), [JSON.stringify(system)], said),
    dialect: 'chat',
    target: '/v1/chat/completions',
  };
}

/** A transcript in the responses dialect. */
export function responsesTurns(transcript: CorpusTranscript): Turns {
  const instructions = joinedText(transcript.system);
  const said = transcript.messages.map(({ role, content }) => responsesItems(role, content));
  return {
    ...rest(transcript, open('input', { instructions }), [], said),
    dialect: 'responses',
    target: '/v1/responses',
  };
}

function rest(
  transcript: CorpusTranscript,
  head: string,
  first: readonly string[],
  said: readonly (readonly unknown[])[],
): Pick<Turns, 'id' | 'count' | 'body'> {
  const texts = said.map((items) => items.map((item) => JSON.stringify(item)));
  const ends = endsOf(transcript);
  return {
    id: transcript.id,
    count: ends.length,
    body: (turn) => join(head, [...first, ...texts.slice(0, ends[turn]).flat()]),
  };
}

function chatMessages(role: string, content: unknown): readonly unknown[] {
  const parts = partsOf(content);
  const text = parts.filter(({ type }) => type === 'text').map((part) => joinedText([part]));
  const results = parts
    .filter(({ type }) => type === 'tool_result')
    .map((part) => ({
      role: 'tool',
      tool_call_id: part['tool_use_id'],
      content: joinedText(part['content']),
    }));
  const calls = parts
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }));
  if (role === 'assistant')
    return [
      { role, content: text.join('\n'), ...(calls.length === 0 ? {} : { tool_calls: calls }) },
    ];
  return [...results, ...text.map((each) => ({ role, content: each }))];
}

function responsesItems(role: string, content: unknown): readonly unknown[] {
  return partsOf(content).flatMap((part): unknown[] => {
    const { type, id, name, input, text } = part;
    if (type === 'text')
      return [
        {
          type: 'message',
          role,
          content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
        },
      ];
    if (type === 'tool_use')
      return [{ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) }];
    if (type !== 'tool_result') return [];
    return [
      {
        type: 'function_call_output',
        call_id: part['tool_use_id'],
        output: joinedText(part['content']),
      },
    ];
  });
}

function partsOf(content: unknown): readonly Json[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Json[]);
}

function joinedText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as Json[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');
}

/** A body's beginning up to the list that grows, which stands last. */
function open(list: string, fields: Json): string {
  return `${JSON.stringify({ model: 'm', ...fields }).slice(0, -1)},"${list}":[`;
}

const join = (head: string, items: readonly string[]): Buffer =>
  Buffer.from(head + items.join(',') + END);

/** How many messages each request holds: all up to an answer, and those behind the last one. */
function endsOf({ messages }: CorpusTranscript): readonly number[] {
  const ends = messages.flatMap(({ role }, at) => (role === 'assistant' && at > 0 ? [at] : []));
  return messages.at(-1)?.role === 'assistant' ? ends : [...ends, messages.length];
}
