/** How soon an event of a stream is passed on. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { request as onRequest } from '../../fixtures/upstream.ts';
import {
  MESSAGE,
  closeClients,
  json,
  openAnswer,
  readAnswer,
} from '../../fixtures/server/exchange.ts';

const STREAM = json(MESSAGE, { stream: true });
/** Some 1.5 ms where nothing else runs. */
const LIMIT_MS = 5;

test('by default an event is passed on as it comes', () =>
  withProxy({}, async (t) => {
    const delays: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      let writtenAtMs = 0;
      const stop = t.upstream.script(
        undefined,
        onRequest(async (x) => {
          const { wire, headLength, pieces } = x.answer();
          await x.write(wire.subarray(0, headLength));
          await x.wait(5);
          writtenAtMs = performance.now();
          const [first] = pieces;
          await x.write(`${first!.length.toString(16)}\r\n${first!.toString()}\r\n`);
          await x.wait(5);
          const last = pieces.at(-1)!;
          await x.write(`${last.length.toString(16)}\r\n${last.toString()}\r\n0\r\n\r\n`);
        }),
      );
      const message = await openAnswer(t.proxy.port, { body: STREAM });
      let seenAtMs = 0;
      message.once('data', () => (seenAtMs = performance.now()));
      await readAnswer(message);
      stop();
      delays.push(seenAtMs - writtenAtMs);
    }
    const median = delays.toSorted((a, b) => a - b)[10]!;
    process.stdout.write(`  first event passed on after ${median.toFixed(2)} ms (median)\n`);
    assert.ok(median < LIMIT_MS, `${median} ms`);
  }));

test.after(closeClients);
test.run();
