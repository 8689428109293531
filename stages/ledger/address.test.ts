import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { faultOfUrl, isPostgresUrl, isUrl, ledgerName, passwordsOf } from './address.ts';

test('a path is not a URL, whatever it looks like', () => {
  for (const path of [
    '/data/x.db',
    './x.db',
    'postgres.db',
    '~/monitor.db',
    'postgres:/x',
    'C:\\x.db',
  ]) {
    assert.not(isUrl(path), path);
    assert.is(ledgerName(path), path);
    assert.equal(passwordsOf(path), []);
  }
});

test('both names of the scheme are accepted, in either case', () => {
  for (const url of ['postgres://h/d', 'postgresql://h/d', 'POSTGRES://h/d']) {
    assert.ok(isPostgresUrl(url), url);
    assert.is(faultOfUrl(url), undefined, url);
  }
  for (const url of ['mysql://h/d', 'http://h/d', 'file:///x.db', 'redis://h'])
    assert.match(faultOfUrl(url) ?? '', /neither a path nor a postgres:\/\/ URL/, url);
});

/** URLs with the same password, and what may be shown of each one. */
const SHOWN: readonly (readonly [url: string, name: string])[] = [
  ['postgres://ada:se%2Fcret@db.example:5433/svc', 'postgres://db.example:5433/svc'],
  ['postgresql://ada:se%2Fcret@db.example/svc?sslmode=require', 'postgres://db.example/svc'],
  ['postgres://db.example/svc?user=ada&password=se%2Fcret', 'postgres://db.example/svc'],
  ['postgres://ada:se%2Fcret@/svc?host=/var/run/postgresql', 'postgres:///var/run/postgresql/svc'],
  ['postgres://ada:se%2Fcret@%2Fvar%2Frun%2Fpostgresql/svc', 'postgres:///var/run/postgresql/svc'],
  ['postgres://ada:se%2Fcret@[::1]:5432/svc', 'postgres://[::1]:5432/svc'],
];

test('a password is found anywhere in a URL and never shown', () => {
  for (const [url, name] of SHOWN) {
    assert.is(faultOfUrl(url), undefined, url);
    assert.is(ledgerName(url), name);
    assert.ok(passwordsOf(url).includes('se/cret'), url);
  }
});

test('a URL whose password must be escaped is refused without showing any of it', () => {
  for (const url of [
    'postgres://ada:12/secret@db/svc',
    'postgres://ada:se/secret@db/svc',
    'postgres://ada:12#secret@db/svc',
    'postgres://ada:12?secret@db/svc',
    'postgres://ada:100%secret@db/svc',
    'postgres://ada:secret@db:port/svc',
    'postgres://',
  ]) {
    const fault = faultOfUrl(url);
    assert.ok(fault !== undefined, url);
    assert.not.match(`${fault}${ledgerName(url)}`, /secret|ada/);
  }
  assert.match(faultOfUrl('postgres://db.example') ?? '', /names no database/);
});

test.run();
