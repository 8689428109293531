import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/index.ts';
import { loadConfig } from '../../server/config/load.ts';
import { makeContext, makePlace } from '../../fixtures/cli/run.ts';
import { toArguments, toLoadOptions, toServeFlags } from './flags.ts';

const place = makePlace();
test.after(() => place.dispose());

test('--telemetry and --debug reach the configuration, also for a background start', async () => {
  const { context } = makeContext(place);
  const none = { port: undefined, config: undefined, envFile: undefined };
  const off = await loadConfig(toLoadOptions(toServeFlags(none, context), context));
  assert.is(off.config.telemetry.enabled, false);
  const on = { telemetry: true, debug: true, dashboard: true, ingest: true };
  const flags = toServeFlags({ ...none, ...on }, context);
  const { config } = await loadConfig(toLoadOptions(flags, context));
  assert.is(config.telemetry.enabled, true);
  assert.is(config.logging.level, 'debug');
  assert.equal(toArguments(flags), ['--debug', '--telemetry', '--ingest']);
});

test('--workers reaches the configuration within its bounds, also for a background start', async () => {
  const { context } = makeContext(place);
  const typed = (workers: string) =>
    toServeFlags({ port: undefined, config: undefined, envFile: undefined, workers }, context);
  const flags = typed('4');
  assert.equal(toArguments(flags), ['--workers', '4']);
  context.env['SVC_WORKERS'] = '3';
  const other = await loadConfig(toLoadOptions({}, context));
  assert.is(other.config.compression.workers, 3);
  const loaded = await loadConfig(toLoadOptions(flags, context));
  assert.is(loaded.config.compression.workers, 4);
  for (const text of ['0', '17', '-1', '2.5', 'two', '']) {
    assert.throws(
      () => typed(text),
      (thrown: unknown) =>
        isSvcError(thrown) &&
        thrown.kind === 'usage' &&
        thrown.message === `--workers: "${text}" is not a whole number from 1 to 16`,
    );
  }
});

test.run();
