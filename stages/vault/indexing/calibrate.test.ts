import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../../engine/error.ts';
import { calibrate, readCalibration } from './calibrate.ts';
import { inPlace } from '../../../fixtures/vault/place.ts';

test('measures, stores and reads back the best number of workers', () =>
  inPlace(async (place) => {
    for (let file = 0; file < 40; file++) place.write(`f${file}.md`, `text ${file} `.repeat(200));
    const { indexDir } = place;
    const options = { ...place.base(), root: place.root, maxWorkers: 2 };
    assert.is(readCalibration(indexDir), undefined);
    const found = await calibrate(options);
    assert.equal(
      found.trials.map(({ workers }) => workers),
      [1, 2],
    );
    assert.ok(found.trials.every(({ filesPerSecond }) => filesPerSecond > 0));
    assert.ok([1, 2].includes(found.workers));
    assert.equal(readCalibration(indexDir), found);
    assert.is(statSync(join(indexDir, 'calibration.json')).mode & 0o777, 0o600);
    assert.is((await place.open().status()).available, false, 'no file is indexed');
  }));

test('ignores a measurement of another machine, or a damaged one', () =>
  inPlace(async (place) => {
    place.write('a.md', 'text');
    await calibrate({ ...place.base(), root: place.root, maxWorkers: 1 });
    const path = join(place.indexDir, 'calibration.json');
    writeFileSync(path, JSON.stringify({ workers: 4, processors: 999 }));
    assert.is(readCalibration(place.indexDir), undefined);
    writeFileSync(path, '{');
    assert.is(readCalibration(place.indexDir), undefined);
  }));

test('refuses to measure an empty folder', () =>
  inPlace(async (place) => {
    try {
      await calibrate({ ...place.base(), root: place.root });
      assert.unreachable();
    } catch (error) {
      assert.ok(isSvcError(error) && error.kind === 'unprocessable');
    }
  }));

test.run();
