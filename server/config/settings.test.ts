/** The table is complete, consistent, and everything made from it agrees with it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allows } from '../../stages/settings/kind.ts';
import { settingsTable } from './document.ts';
import { allVariables } from './env.ts';
import { freshConfig } from './init.ts';
import { settings, SPELLINGS } from './settings.ts';
import { loadText } from '../../fixtures/server/config-text.ts';

test('no key, alias or variable belongs to two settings', () => {
  assert.is(new Set(SPELLINGS).size, SPELLINGS.length);
  const names = allVariables().map((variable) => variable.name);
  assert.is(new Set(names).size, names.length);
  assert.ok(!names.some((name) => /^(ANTHROPIC|OPENAI|GEMINI|GOOGLE)_.*URL$/.test(name)));
});

test('every default is valid for its setting', () => {
  for (const row of settings) {
    assert.ok(row.default === null || allows(row.type.definition, row.default), row.key);
  }
});

test('a found file can set no secret, path or provider address', () => {
  for (const row of settings) {
    const { key } = row;
    const risky = row.secret === true || row.resolve !== undefined || key.endsWith('base_url');
    if (risky) assert.ok(row.guarded, key);
  }
  const settingsByKey = new Map(settings.map((row) => [row.key, row]));
  for (const what of ['request', 'response'])
    assert.ok(settingsByKey.get(`logging.include_${what}_body`)?.guarded, what);
});

test('a fresh file changes nothing, even with any one of its lines uncommented', async () => {
  const text = freshConfig();
  const { provenance } = await loadText({ file: text });
  assert.ok([...provenance.values()].every(({ source }) => source === 'default'));
  const active = text.replace(/^( *)#(?! )(?=\S)/gm, (mark, indent: string) =>
    mark === '#' ? '' : indent,
  );
  const open = active.replace('# Configuration', '#');
  // An unset value written out as null is the same as leaving it out; only the examples differ.
  const loaded = await loadText({ file: open });
  const set = [...loaded.provenance].filter(
    ([key, one]) => !/\.(local|small|chat)\./.test(key) && one.source === 'file',
  );
  assert.ok(set.length > 60, `${set.length}`);
  for (const [key, one] of set) {
    if (key !== 'server.ws_port') assert.equal(one.value, one.setting.default, key);
  }
  for (const { key } of settings) assert.ok(text.includes(`#${key.split('.').at(-1)}: `), key);
});

test('the document has one row per setting, with its variables', () => {
  const rows = settingsTable().split('\n').slice(2);
  assert.is(rows.length, settings.length);
  const key = rows.find((row) => row.startsWith('| `providers.<name>.api_key`'));
  assert.match(key ?? '', '`MSGPROV_API_KEY`, `ANTHROPIC_API_KEY`');
  assert.match(rows.join('\n'), '| `SVC_COMPACT` | `true` | true or false |');
});

test.run();
