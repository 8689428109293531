import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { loadText } from '../../fixtures/server/config-text.ts';
import { secretsOf } from '../log/open-log.ts';
import { redisAddress, redisFault, redisPlace, unencryptedRedis } from './redis-address.ts';
import { showConfig } from './show.ts';

test('parses an address into user, password, host, port and database', () => {
  for (const [text, expected, place] of [
    ['redis://db', ['db', 6379, false, undefined, undefined, 0], 'db:6379'],
    ['redis://:p%40ss%23@db:7000/2', ['db', 7000, false, undefined, 'p@ss#', 2], 'db:7000/2'],
    ['rediss://ada:secret@[::1]/', ['::1', 6379, true, 'ada', 'secret', 0], '[::1]:6379'],
  ] as const) {
    assert.is(redisFault(text), undefined, text);
    const { host, port, tls, username, password, db } = redisAddress(text);
    assert.equal([host, port, tls, username, password, db], [...expected], text);
    assert.is(redisPlace(redisAddress(text)), place);
  }
});

test('no fault quotes a possible password', () => {
  for (const text of [
    'redis://:s3cret@',
    'x://:s3cret@h',
    'redis://:s3cret@h/a',
    'redis://s3cret%@h',
    's3cret',
  ])
    assert.not.match(redisFault(text) ?? 'none', 's3cret', text);
});

test('warns of a password that is sent unencrypted to another machine', async () => {
  for (const [text, isWarned] of [
    ['redis://:s3cret@db', true],
    ['redis://:s3cret@10.0.0.7/1', true],
    ['rediss://:s3cret@db', false],
    ['redis://:s3cret@127.0.0.1', false],
    ['redis://:s3cret@localhost:7000', false],
    ['redis://:s3cret@[::1]', false],
  ] as const) {
    const { warnings } = await loadText({ env: { SVC_REDIS_URL: text } });
    assert.is(warnings.length, isWarned ? 1 : 0, text);
    assert.not.match(warnings.join(), 's3cret');
  }
  assert.is(unencryptedRedis(null), undefined);
});

test('the password of the address is masked in logs and captures, unless it is too short', async () => {
  for (const [text, secrets] of [
    ['redis://ada:p%40ss@127.0.0.1', ['p@ss']],
    ['redis://ada:let@127.0.0.1', []],
    ['redis://127.0.0.1', []],
    ['', []],
  ] as const) {
    const { config } = await loadText({ env: { SVC_REDIS_URL: text } });
    assert.equal(secretsOf(config, { byName: new Map(), faults: [] }), secrets, text);
  }
});

test('config show displays no part of the address', async () => {
  const loaded = await loadText({ file: 'shared: {redis_url: "redis://ada:s3cret@127.0.0.1"}' });
  const row = showConfig(loaded).find(({ key }) => key === 'shared.redis_url');
  assert.is(row?.value, 'set (a URL)');
});

test.run();
