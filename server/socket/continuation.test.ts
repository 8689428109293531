/** How a message is completed from earlier messages on the same connection. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createContinuation } from './continuation.ts';

/** A reservation function with room for `max` bytes per call. */
const upTo = (max: number) => (bytes: number) => (bytes > max ? undefined : () => undefined);

const begin = (continuation: ReturnType<typeof createContinuation>, text: string) => {
  const read = JSON.parse(text) as Record<string, unknown>;
  return continuation.begin(Buffer.from(text), read);
};
const done = (item: object) => ({ type: 'response.output_item.done', item });
const completed = (id: string, output: readonly object[] = []) => ({
  type: 'response.completed',
  response: { id, output },
});

test('every byte except the fields for the connection stays as the client wrote it', () => {
  const text =
    '{ "type":"response.create",\n "model" : "m", "store":false, "n": 1.0, "input": [ {"a":1e2} ] , "stream": false}';
  const { body } = begin(createContinuation(upTo(1000)), text);
  assert.is(
    body.toString(),
    '{ "model" : "m", "store":false, "n": 1.0, "input": [ {"a":1e2} ],"stream":true}',
  );
});

test('omits reasoning without encrypted content, and joins a list and a text into one list', () => {
  const continued = createContinuation(upTo(1000));
  const first = begin(continued, '{"store":false,"input":"hi"}');
  first.onEvent(done({ type: 'reasoning', id: 'rs_1' }));
  first.onEvent(done({ type: 'reasoning', id: 'rs_2', encrypted_content: 'x' }));
  first.onEvent(completed('r1', [{ type: 'never', id: 'twice' }]));
  const second = begin(continued, '{"previous_response_id":"r1","store":false,"input":[ ]}');
  const before =
    '{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_2","encrypted_content":"x"}';
  assert.is(second.body.toString(), `{"store":false,"input":[${before}],"stream":true}`);
  second.onEvent(completed('r2', [{ type: 'message', id: 'm' }]));
  const third = begin(continued, '{"store":false,"previous_response_id":"r2"}');
  assert.is(
    third.body.toString(),
    `{"store":false,"input":[${before},{"type":"message","id":"m"}],"stream":true}`,
  );
});

test('a history that is too long to keep is left to the provider', () => {
  const continued = createContinuation(upTo(20));
  const first = begin(continued, '{"store":false,"input":"a long text of more than this"}');
  first.onEvent(completed('r1'));
  const text = '{"previous_response_id":"r1","store":false,"input":[]}';
  assert.match(begin(continued, text).body.toString(), '"previous_response_id":"r1"');
});

test('a kept history is released when a newer one is kept, and when the connection closes', () => {
  let held = 0;
  const continued = createContinuation((bytes) => {
    held += bytes;
    return () => void (held -= bytes);
  });
  const text = '{"type":"response.create","store":false,"input":"abc"}';
  begin(continued, text).endEmpty('r1');
  const first = held;
  assert.ok(first > 0);
  begin(continued, text).endEmpty('r2');
  assert.is(held, first);
  continued.close();
  assert.is(held, 0);
});

test.run();
