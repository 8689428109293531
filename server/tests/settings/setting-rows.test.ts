/**
 * Every variable and key of the specification has a row that tests it
 * (`every-setting.full.test.ts`).
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SETTING_EFFECTS } from '../../../fixtures/server/effects/setting-effects.ts';
import { SPECIFIED_SETTINGS } from '../../../fixtures/server/specified-settings.ts';

/**
 * Listening settings need a separate process, since other tests use free ports; they have no row.
 */
const LISTENING = ['SVC_PORT', 'server.port', 'proxy.port', 'SVC_WS_PORT', 'server.host'];
LISTENING.push('proxy.host', 'logging.destination');

test('the rows are those of the specification', () => {
  const names = [...SETTING_EFFECTS.flatMap(({ set }) => Object.keys(set)), ...LISTENING];
  assert.equal(names.toSorted(), [...SPECIFIED_SETTINGS].toSorted());
});

test.run();
