import { type } from 'arktype';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { definePlugin } from './plugin.ts';

test('the type of a configuration follows from its arktype type', () => {
  const { config: check } = definePlugin({
    name: 'quiet',
    config: type({ text: 'string', 'limit?': '0 <= number.integer <= 5' }),
    setup: ({ config }) => {
      const text: string = config.text;
      const limit: number | undefined = config.limit;
      return { stages: [{ after: 'forward', name: `${text}${limit}`, settled: () => undefined }] };
    },
  });
  assert.equal(check?.({ text: 'a', limit: 5 }), { text: 'a', limit: 5 });
  const faults = check?.({ text: 'a', limit: 6 });
  assert.match(faults instanceof type.errors ? faults.summary : '', /limit/);
});

test.run();
