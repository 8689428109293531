import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadWireResponses } from '../../fixtures/wire.ts';
import { createWholeEvents, endsEvent } from './whole-events.ts';

const streams = loadWireResponses().filter((wire) => wire.streaming);

test('cut at every byte, every stream keeps its bytes, and only whole events go out', () => {
  for (const { bytes, file } of streams) {
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const gate = createWholeEvents();
      const out = [gate.push(bytes.subarray(0, cut)), gate.push(bytes.subarray(cut))];
      for (const piece of out) {
        assert.ok(piece.length === 0 || endsEvent(piece), `${file} cut at ${cut}`);
      }
      out.push(gate.rest());
      assert.ok(Buffer.concat(out).equals(bytes), `${file} cut at ${cut}`);
    }
  }
});

test('an event goes out with its last byte, in each way of ending lines', () => {
  for (const eol of ['\n', '\r\n', '\r']) {
    const event = Buffer.from(`event: a${eol}data: {"x":1}${eol}${eol}`);
    const gate = createWholeEvents();
    for (let i = 0; i < event.length - 1; i += 1) {
      assert.is(gate.push(event.subarray(i, i + 1)).length, 0, JSON.stringify(eol));
    }
    assert.ok(gate.push(event.subarray(-1)).equals(event), JSON.stringify(eol));
    assert.is(gate.rest().length, 0);
  }
});

test('an event beyond measure is not held', () => {
  const gate = createWholeEvents();
  const piece = Buffer.alloc(50_000, 'x');
  assert.is(gate.push(piece).length, 0);
  assert.is(gate.push(piece).length, 100_000);
  assert.is(gate.push(Buffer.from('x\n\ndata: y')).toString(), 'x\n\n');
  assert.is(gate.rest().toString(), 'data: y');
});

test.run();
