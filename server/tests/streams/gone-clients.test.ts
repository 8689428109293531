/** A client whose connection breaks in the moment in which its answer is complete. */
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { streamOf, withPlainUpstream } from '../../../fixtures/plain-upstream.ts';
import { MESSAGE, json, openSocket } from '../../../fixtures/server/exchange.ts';

const BODY = json(MESSAGE, { stream: true });
const HEAD = `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`;
const WHOLE = streamOf({ type: 'message_start' }, { type: 'message_stop' });

/** Calls `then` in that turn of the event loop, of which the first is this one. */
function inTurn(turn: number, then: () => void): void {
  if (turn === 0) then();
  else setImmediate(() => inTurn(turn - 1, then));
}

test('its run ends, and gives back its place among the streams', () =>
  withPlainUpstream({ yaml: 'streaming: { max_concurrent_streams: 1 }' }, async (t, upstream) => {
    const turns = [0, 1, 2, 3];
    for (const turn of turns) {
      const client = await openSocket(t.proxy.port);
      upstream.answer((response, request) => {
        WHOLE(response, request);
        // Whichever turn it is in which the proxy writes its last bytes: they must fail once.
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
