/** The demo's session as a conversation, used if this machine has no sessions of the user's. */
import { isObject, listOf, parseJson } from '../../stages/dialect/json-kind.ts';
import type { Conversation } from '../../server/sessions/session.ts';

export async function demoConversation(): Promise<Conversation> {
  const { loadDemo } = await import('../../fixtures/demo.ts');
  const { model, turns } = loadDemo();
  const bodies = turns.map(({ body }) => {
    const json = parseJson(body.toString());
    return isObject(json) ? json : {};
  });
  const { messages, ...params } = bodies.at(-1) ?? {};
  return {
    client: 'claude-code',
    sessionId: 'demo',
    dialect: 'messages',
    params,
    items: listOf(messages),
    requests: bodies.map((body) => ({
      items: listOf(body['messages']).length,
      atMs: null,
      model,
      usage: null,
    })),
  };
}
