/** A client whose connection breaks at the moment its response is complete. */
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { MESSAGE, json, openSocket } from '../../../fixtures/server/exchange.ts';

const BODY = json(MESSAGE, { stream: true });
const HEAD = `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`;
const WHOLE = streamOf({ type: 'message_start' }, { type: 'message_stop' });

/** Calls `then` after `turn` turns of the event loop; 0 means now. */
function inTurn(turn: number, then: () => void): void {
  if (turn === 0) then();
  else setImmediate(() => inTurn(turn - 1, then));
}

test('the run of a client that has left ends and releases its stream slot', () =>
  withPlainUpstream({ yaml: 'streaming: { max_concurrent_streams: 1 }' }, async (t, upstream) => {
    const turns = [0, 1, 2, 3];
    for (const turn of turns) {
      const client = await openSocket(t.proxy.port);
      upstream.answer((response, request) => {
        WHOLE(response, request);
        // Tries several turns, so that the proxy's last write fails in one of them.
        inTurn(turn, () => client.resetAndDestroy());
      });
      client.write(HEAD + BODY);
      await once(client, 'close');
      await t.rows(turn + 1);
    }
    const outcomes = (await t.rows(turns.length)).map((row) => row.outcome);
    assert.ok(outcomes.includes('cancelled'), outcomes.join());
    assert.not.ok(outcomes.includes('error'), outcomes.join());
    assert.is(t.proxy.services.streams.active, 0);
  }));

test.run();
