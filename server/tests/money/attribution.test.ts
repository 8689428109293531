/** Attribution of requests: the agent from its user agent, the skill from `x-svc-skill`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import { MESSAGE, closeClients, exchange, json } from '../../../fixtures/server/exchange.ts';
import { openTalk } from '../../../fixtures/server/websocket.ts';

test('a row has the skill named by the client, which is not forwarded to the provider', () =>
  withProxy({}, async (t) => {
    const skills = ['review', ' review ', '', 's'.repeat(500), undefined];
    for (const skill of skills) {
      const headers = {
        'user-agent': 'my-agent/1.0',
        ...(skill !== undefined && { 'x-svc-skill': skill }),
      };
      assert.is((await exchange(t.proxy.port, { body: json(MESSAGE), headers })).status, 200);
    }
    const rows = await t.rows(skills.length);
    assert.equal(
      rows.map(({ skill }) => skill),
      ['review', 'review', null, 's'.repeat(200), null],
    );
    assert.ok(rows.every(({ client }) => client === 'my-agent'));
    for (const sent of t.upstream.requests) assert.is(sent.header('x-svc-skill'), undefined);
  }));

test('over a WebSocket, the upgrade names the skill', () =>
  withProxy({}, async (t) => {
    const client = await openTalk(t.proxy.wsPort, { 'x-svc-skill': 'review' });
    await client.answered(json(MESSAGE));
    assert.is((await t.rows(1))[0]?.skill, 'review');
    client.socket.terminate();
  }));

test.after(closeClients);
test.run();
