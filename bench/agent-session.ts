/**
 * A session of a coding agent with a growing history: each turn appends an answer, a tool call and
 * its result to everything before it. One text holds the whole session, and each request is a part
 * of it from the beginning, so that neither memory nor the load generator's time limits its length.
 */
import type { Conversation } from './load.ts';
import { SERIAL, resultsOf } from './tool-results.ts';

/** A session as a job of the load generator. */
export interface AgentSession extends Omit<Conversation, 'each'> {
  readonly body: string;
}

/** What is in a session. */
export interface SessionPlan {
  /** In every text, so that no two sessions share one; the session's number is, too. */
  readonly name: string;
  /** Lines of each turn's result. */
  readonly lines: readonly number[];
  /** Size of the system prompt; default 20,000. */
  readonly systemBytes?: number;
  /** Only results of this tool, of six; default all in turn. */
  readonly tool?: number;
}

const SYSTEM_BYTES = 20_000;
/** Where the client marks the end of what the provider caches, as Claude Code does. */
const TAIL = ',"cache_control":{"type":"ephemeral"}}]}]}';
const KINDS = 6;

/** Returns the session; its first request is already one with a result. */
export function agentSession({ name, lines, systemBytes, tool }: SessionPlan): AgentSession {
  const rule = `Rule of ${name}: read a file before you change it, and run the tests afterwards. `;
  const text = rule.repeat(Math.ceil((systemBytes ?? SYSTEM_BYTES) / rule.length));
  const opening = JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 1024,
    system: [{ type: 'text', text }],
    messages: [{ role: 'user', content: `Why does the build of ${name} ${SERIAL} fail?` }],
  });
  let body = opening.slice(0, -']}'.length);
  const cuts = lines.map((count, turn) => {
    const messages = JSON.stringify(messagesOf(name, turn, count, tool ?? turn % KINDS));
    const end = body.length + messages.length - '}]}]'.length;
    body += `,${messages.slice(1, -1)}`;
    return end;
  });
  return { body: `${body}]}`, cuts, tail: TAIL };
}

function messagesOf(name: string, turn: number, lines: number, tool: number): readonly object[] {
  const mark = `${name}-${turn}-${SERIAL}`;
  const [command, content] = resultsOf(lines, mark)[tool]!;
  const id = `toolu_${name}_${turn}_${SERIAL}`;
  const said = { type: 'text', text: `The last result does not explain it; I look at ${mark}.` };
  const call = { type: 'tool_use', id, name: 'Bash', input: { command } };
  return [
    { role: 'assistant', content: [said, call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
  ];
}
