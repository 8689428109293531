import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../server/config/load.ts';
import { makeContext, makePlace } from '../../fixtures/cli/run.ts';
import { toArguments, toLoadOptions, toServeFlags } from './flags.ts';

const place = makePlace();
test.after(() => place.dispose());

test('--telemetry and --debug reach the configuration, also of a start in the background', async () => {
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

test.run();
