import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { agentSession } from './agent-session.ts';

interface Request {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

test('each request contains the previous one and adds a call and its result', () => {
  const { body, cuts, tail } = agentSession({ name: 'x', lines: [10, 20, 30] });
  const requests = cuts.map((cut) => JSON.parse(`${body.slice(0, cut)}${tail}`) as Request);
  assert.equal(
    requests.map(({ messages }) => messages.length),
    [3, 5, 7],
  );
  const unmarked = (at: number) =>
    JSON.stringify(requests[at]!.messages).replace(',"cache_control":{"type":"ephemeral"}', '');
  assert.ok(unmarked(2).startsWith(unmarked(1).slice(0, -1)));
  assert.ok(unmarked(1).startsWith(unmarked(0).slice(0, -1)));
  assert.equal((JSON.parse(body) as Request).messages.length, 7);
});

test('no line of a result occurs in another turn or another session', () => {
  const linesOf = (name: string) => {
    const { messages } = JSON.parse(
      agentSession({ name, lines: [20, 20], tool: 0 }).body,
    ) as Request;
    return messages
      .filter(({ content }) => Array.isArray(content))
      .flatMap(({ content }) => content as readonly { readonly content?: string }[])
      .flatMap(({ content }) => content?.split('\n') ?? []);
  };
  const all = [...linesOf('a'), ...linesOf('b')];
  assert.is(all.length, 80);
  assert.is(new Set(all).size, 80);
});

test.run();
