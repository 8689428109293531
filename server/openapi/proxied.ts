/** The schemas of proxied requests: fields of the dialects, plus those of svc. */
import {
  about,
  byName,
  flag,
  list,
  nullable,
  number,
  object,
  oneOf,
  open,
  text,
  whole,
  ref,
} from './schema.ts';
import type { Schema } from './schema.ts';

/** Fields that svc reads in a request body and removes before forwarding. */
const own = { svc_template: ref('TemplateUse') };

/** Forwarded requests and their responses, as far as svc reads them. */
export const proxiedSchemas: Readonly<Record<string, Schema>> = {
  TemplateUse: about(
    {
      oneOf: [text, object({ name: text }, { vars: byName({ oneOf: [text, number, flag] }) })],
    },
    'A prompt template to fill for this request: its name, or its name and the values of its variables',
  ),
  AnyRequest: open(own),
  MessagesRequest: open(
    {
      ...own,
      model: text,
      messages: list(open({ role: text, content: {} }, ['role']), undefined),
      max_tokens: { type: 'integer', minimum: 1 },
      system: {},
      stream: flag,
      temperature: number,
      top_p: number,
      stop_sequences: list(text),
      tools: list(open({})),
      tool_choice: open({}),
    },
    ['model', 'messages', 'max_tokens'],
  ),
  MessagesAnswer: open(
    {
      id: text,
      type: oneOf('message'),
      role: oneOf('assistant'),
      content: list(open({ type: text }, ['type'])),
      model: text,
      stop_reason: nullable(text),
      usage: open({
        input_tokens: whole,
        output_tokens: whole,
        cache_read_input_tokens: nullable(whole),
        cache_creation_input_tokens: nullable(whole),
      }),
    },
    ['id', 'type', 'role', 'content', 'model'],
  ),
  ChatRequest: open(
    {
      ...own,
      model: text,
      messages: list(open({ role: text, content: {} }, ['role'])),
      max_tokens: { type: 'integer' },
      stream: flag,
      temperature: number,
      functions: list(open({})),
      tools: list(open({})),
    },
    ['model', 'messages'],
  ),
  ChatAnswer: open({ id: text, model: text, choices: list(open({})), usage: open({}) }, [
    'choices',
  ]),
};
