/** The young generation, in a process of its own: how large it becomes is decided by its whole life. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** Allocates for a while, with survivors, and says the most that one half has been, in MB. */
const LOAD = `
  import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
  import { getHeapSnapshot, getHeapSpaceStatistics } from 'node:v8';
  const { keepHeapSmall } = await import(process.argv[1]);
  keepHeapSmall();
  const kept = [];
  const load = async (turns) => {
    let most = 0;
    for (let at = 0; at < turns; at += 1) {
      for (let made = 0; made < 20_000; made += 1) {
        const held = { made, beside: [made, at] };
        if (made % 16 === 0) kept[made % 4096] = held;
      }
      await turn();
      const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
      most = Math.max(most, young.space_used_size + young.space_available_size);
    }
    return Math.round(most / 2 ** 20);
  };
  const before = await load(400);
  getHeapSnapshot().destroy();
  await pause(20);
  console.log(JSON.stringify([before, await load(400)]));
`;

/** What the process wrote while it allocated, with `flags` of V8. */
async function load(...flags: string[]): Promise<string> {
  const heap = new URL('./heap.js', import.meta.url).href;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, '--input-type=module', '--eval', LOAD, '--', heap],
    { maxBuffer: 64 * 2 ** 20 },
  );
  return stdout;
}

test('one half of the young generation stops at 16 MB, also after it was made small', async () => {
  // What a page holds besides its objects is not counted.
  assert.equal(JSON.parse(await load()), [16, 16]);
});

test('no helper thread takes part when the young generation is collected', async () => {
  const log = await load('--trace-gc-nvp');
  const byHelpersMs = [...log.matchAll(/ gc=s .*? background\.scavenge\.parallel=([\d.]+)/g)];
  assert.ok(byHelpersMs.length > 100, `${byHelpersMs.length} collections`);
  // Those before the first line of the program ran may have had help.
  assert.equal(
    byHelpersMs.slice(10).filter(([, ms]) => Number(ms) > 0),
    [],
  );
});

test.run();
