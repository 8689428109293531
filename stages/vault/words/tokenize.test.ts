import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stem } from './stem.ts';
import { Tokenizer } from './tokenize.ts';

test('stems the examples of the paper as it does, step by step', () => {
  const pairs =
    'caresses caress, ponies poni, ties ti, caress caress, cats cat, feed feed, agreed agre, ' +
    'plastered plaster, bled bled, motoring motor, sing sing, conflated conflat, troubled troubl, ' +
    'sized size, hopping hop, tanned tan, falling fall, hissing hiss, fizzed fizz, failing fail, ' +
    'filing file, happy happi, sky sky, relational relat, conditional condit, rational ration, ' +
    'valenci valenc, digitizer digit, conformabli conform, radicalli radic, differentli differ, ' +
    'vileli vile, analogousli analog, vietnamization vietnam, predication predic, operator oper, ' +
    'feudalism feudal, decisiveness decis, hopefulness hope, callousness callous, formaliti formal, ' +
    'sensitiviti sensit, sensibiliti sensibl, triplicate triplic, formative form, formalize formal, ' +
    'electriciti electr, electrical electr, hopeful hope, goodness good, revival reviv, ' +
    'allowance allow, inference infer, airliner airlin, gyroscopic gyroscop, adjustable adjust, ' +
    'defensible defens, irritant irrit, replacement replac, adjustment adjust, dependent depend, ' +
    'adoption adopt, homologou homolog, communism commun, activate activ, angulariti angular, ' +
    'homologous homolog, effective effect, bowdlerize bowdler, probate probat, rate rate, ' +
    'cease ceas, controll control, roll roll, million million';
  for (const pair of pairs.split(', ')) {
    const [word, expected] = pair.split(' ') as [string, string];
    assert.is(stem(word), expected, word);
  }
});

test('does not stem anything but lower-case English words', () => {
  for (const word of ['is', 'a', 'größe', '中文', 'x2s', '']) assert.is(stem(word), word);
});

const tokenizer = new Tokenizer();
const terms = (text: string): string[] => tokenizer.terms(text);

test('indexes an identifier by its parts and as a whole', () => {
  assert.equal(terms('indexFolder'), ['index', 'folder', 'indexfolder']);
  assert.equal(terms('raw_tokens'), ['raw', 'token', 'raw_tokens']);
  assert.equal(terms('parseHTTPBody'), ['pars', 'http', 'bodi', 'parsehttpbody']);
  assert.equal(terms('MAX_TERM_CHARS'), ['max', 'term', 'char', 'max_term_chars']);
  assert.equal(terms('HTTP'), ['http']);
});

test('indexes a path by its parts and as a whole', () => {
  assert.equal(terms('see src/vault/walk.ts.'), [
    'see',
    'src',
    'vault',
    'walk',
    'ts',
    'src/vault/walk.ts',
  ]);
});

test('splits hyphenated prose, but not a number', () => {
  assert.equal(terms('The boundary-layer flows at 2.5 m'), [
    'boundari',
    'layer',
    'flow',
    '2.5',
    'm',
  ]);
});

test('drops English stop words, but keeps words in other alphabets', () => {
  assert.equal(terms('what is the Größe of これ'), ['große', 'これ']);
});

test('caps counts but not lengths, and keeps the separator of the storage out of terms', () => {
  const counted = tokenizer.count('wing '.repeat(300), 'a!b wing');
  assert.equal(counted, { terms: 'wing!255 b', length: 302 });
});

test('counts correctly among terms in other alphabets, and again in the next text', () => {
  const text = `${'これ '.repeat(3)}${'wing '.repeat(12)}flap`;
  for (let round = 0; round < 2; round++) {
    assert.equal(tokenizer.count(text), { terms: 'これ!3 wing!12 flap', length: 16 });
    assert.equal(tokenizer.count('flap wing wing'), { terms: 'flap wing!2', length: 3 });
  }
});

test('distinguishes words with the same hash, and more words than the cache holds', () => {
  // Each pair contributes equally to a hash of the form 31 × previous + next character.
  let words = [''];
  for (let pair = 0; pair < 8; pair++) {
    words = words.flatMap((word) => [`${word}aa`, `${word}bB`]);
  }
  const many = Array.from({ length: 40_000 }, (_, index) => `x${index}q`);
  const all = [...words.map((word) => `x_${word}`), ...many];
  const expected = many.join(' ');
  for (let round = 0; round < 2; round++) {
    const counted = tokenizer.count(many.join(' '));
    assert.ok(counted.terms === expected && counted.length === many.length);
    const wholes = new Set(all.map((word) => word.toLowerCase()));
    const found = new Set(terms(all.join(' ')));
    assert.is([...wholes].filter((whole) => !found.has(whole)).length, 0);
    assert.equal(tokenizer.count('Wing wings'), { terms: 'wing!2', length: 2 });
  }
});

test('makes no terms of encoded data, however long', () => {
  assert.equal(terms('q'.repeat(100_000)), []);
});

test('ignores accents, in either Unicode normal form', () => {
  for (const word of ['café', 'cafe\u0301', 'CAFÉ', 'ｃａｆｅ'])
    assert.equal(terms(word), ['cafe'], word);
  assert.equal(terms('naïve_Größe'), ['naiv', 'große', 'naive_große']);
  assert.equal(terms('Ёлка'), ['елка']);
});

test('indexes scripts without spaces as character pairs, in texts and queries alike', () => {
  assert.equal(terms('認証の設定'), ['認証', '証の', 'の設', '設定']);
  assert.equal(terms('検索API'), ['検索', 'api']);
  assert.equal(terms('犬'), ['犬']);
  assert.equal(terms('ﾄｰｸﾝ'), terms('トークン'));
  for (const [text, query] of [
    ['ログイン認証は検索サービスに', 'サービス'],
    ['我们使用令牌进行身份验证', '身份验证'],
    ['사용자인증을 설정합니다', '인증'],
    ['การตั้งค่าระบบ', 'ระบบ'],
  ] as const) {
    const all = terms(text);
    for (const term of terms(query)) assert.ok(all.includes(term), `${query}: ${term}`);
  }
  const long = '認証設定'.repeat(50);
  assert.is(terms(long).length, 199);
  // The match itself is highlighted, not the sentence around it.
  const text = 'ログイン認証は検索サービスに';
  const [hit] = tokenizer.locate(text, new Set(terms('検索サービス')));
  assert.is(text.slice(hit!.start, hit!.end), '検索サービス');
});

test.run();
