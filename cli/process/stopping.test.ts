/** `svc stop` ends a proxy, whatever else keeps its process alive. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inPlace, run, start, write } from '../../fixtures/cli/run.ts';

/** A plugin that never clears its timer. */
const TICKING = `setInterval(() => {}, 1000);
export default { name: 'ticking', version: '1.0.0', setup: () => ({}) };
`;

for (const [what, flags] of [
  ['with a plugin that keeps a timer', []],
  ['that watches its files', ['--debug']],
] as const)
  test(`a proxy ${what} stops on request, without being killed`, () =>
    inPlace(async (place) => {
      const module = write(place, 'ticking.mjs', TICKING);
      const plugins = flags.length === 0 ? `[{ module: ${module} }]` : '[]';
      const config = write(place, 'config.yaml', `plugins: ${plugins}\n`);
      const proxy = start(place, ['serve', '--port', '0', '--config', config, ...flags]);
      await proxy.prints(/listens on/);
      const { code, stdout, stderr } = await run(place, ['stop']);
      assert.is(code, 0, stderr);
      assert.match(stdout, /^Stopped/);
      assert.not.match(stderr, /did not exit/);
      assert.is((await proxy.ended).code, 0);
    }));

test.run();
