import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCors } from './cors.ts';

const NAMED = 'https://app.example';
const FOREIGN = 'https://evil.example';

function fields(flat: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) found[flat[i]!.toLowerCase()] = flat[i + 1]!;
  return found;
}

function preflight(allowed: readonly string[], origin: string | undefined, more = {}) {
  return fields(
    createCors(allowed).preflight({
      origin,
      requestMethod: 'POST',
      requestHeaders: 'content-type, x-api-key',
      privateNetwork: undefined,
      ...more,
    }),
  );
}

test('CORS: each configured origin may read responses', () => {
  const table: readonly (readonly [
    readonly string[],
    string | undefined,
    string | undefined,
    string | undefined,
  ])[] = [
    // allowed, origin, Access-Control-Allow-Origin, Vary
    [['*'], undefined, undefined, undefined],
    [['*'], FOREIGN, '*', undefined],
    [['*', NAMED], FOREIGN, '*', 'Origin'],
    [['*', NAMED], NAMED, NAMED, 'Origin'],
    [[NAMED], NAMED, NAMED, 'Origin'],
    [[`${NAMED}/`], NAMED, NAMED, 'Origin'],
    [[NAMED], FOREIGN, undefined, 'Origin'],
    [[NAMED], undefined, undefined, 'Origin'],
    [[], FOREIGN, undefined, undefined],
    [['null'], 'null', undefined, undefined],
    [[NAMED], 'null', undefined, 'Origin'],
  ];
  for (const [allowed, origin, expected, vary] of table) {
    const reported = `${allowed.join(' ')} for ${origin ?? 'none'}`;
    const answer = fields(createCors(allowed).headers(origin));
    assert.is(answer['access-control-allow-origin'], expected, reported);
    assert.is(answer['vary'], vary, reported);
    assert.is(preflight(allowed, origin)['access-control-allow-origin'], expected);
  }
});

test('CORS never allows credentials', () => {
  for (const allowed of [['*'], [NAMED], ['*', NAMED]]) {
    for (const origin of [NAMED, FOREIGN, 'null', undefined]) {
      const all = { ...fields(createCors(allowed).headers(origin)), ...preflight(allowed, origin) };
      assert.not('access-control-allow-credentials' in all);
    }
  }
});

test('CORS allows access to the private network only for a named origin', () => {
  const preflightOptions = { privateNetwork: 'true' };
  const granted = 'access-control-allow-private-network';
  assert.is(preflight(['*', NAMED], NAMED, preflightOptions)[granted], 'true');
  assert.is(preflight(['*', NAMED], NAMED)[granted], undefined);
  assert.is(preflight(['*', NAMED], FOREIGN, preflightOptions)[granted], undefined);
  assert.is(preflight(['*'], FOREIGN, preflightOptions)[granted], undefined);
  assert.is(preflight(['*', 'null'], 'null', preflightOptions)[granted], undefined);
});

test('a preflight repeats the field names, and nothing else', () => {
  const allow = 'access-control-allow-headers';
  assert.is(preflight(['*'], FOREIGN)[allow], 'content-type, x-api-key');
  for (const requestHeaders of ['x\r\nSet-Cookie: a=b', 'a:b', 'é', '', 'x'.repeat(5000), '<b>']) {
    assert.is(preflight(['*'], FOREIGN, { requestHeaders })[allow], undefined);
  }
});

test('an OPTIONS request that is not a preflight gets only the methods', () => {
  const answer = preflight(['*'], FOREIGN, { requestMethod: undefined });
  assert.equal(Object.keys(answer).toSorted(), ['allow', 'vary']);
  assert.match(preflight(['*'], FOREIGN)['vary'] ?? '', /Origin.*Access-Control-Request-Headers/);
});

test.run();
