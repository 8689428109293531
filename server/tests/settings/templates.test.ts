/**
 * Prompt templates named by a request header: filled in before any other stage, or refused with a
 * reason.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../../fixtures/proxy.ts';
import type { TestProxy } from '../../../fixtures/proxy.ts';
import { CHAT, MESSAGE, exchange, json } from '../../../fixtures/server/exchange.ts';

const vars = (values: unknown) => ({ 'x-svc-template-vars': JSON.stringify(values) });

function withTemplates(use: (t: TestProxy) => Promise<void>): Promise<void> {
  return withProxy({}, async (t) => {
    const folder = join(dirname(t.db), 'templates');
    mkdirSync(folder);
    writeFileSync(join(folder, 'review.md'), 'Review in {{language}}:\n{{input}}');
    writeFileSync(join(folder, 'role.md'), 'You are {{who}}.\n');
    await use(t);
  });
}

const ask = (
  t: TestProxy,
  headers: Readonly<Record<string, string>>,
  content: unknown = 'x = {{language}}',
  sent: { readonly path: string; readonly base: typeof MESSAGE | typeof CHAT } = {
    path: '/v1/messages',
    base: MESSAGE,
  },
) =>
  exchange(t.proxy.port, {
    path: sent.path,
    headers,
    body: json(sent.base, { messages: [{ role: 'user', content }] }),
  });

const sentOf = (t: TestProxy) => {
  const last = t.upstream.requests.at(-1)!;
  return { last, body: JSON.parse(last.body.toString()) as { messages: { content: unknown }[] } };
};

test("the user's text is inserted into the template, in both dialects", () =>
  withTemplates(async (t) => {
    const headers = { 'x-svc-template': 'review', ...vars({ language: 'Gö {{input}}' }) };
    headers['x-svc-template-vars'] = headers['x-svc-template-vars'].replace('ö', '\\u00f6');
    for (const sent of [
      { path: '/v1/messages', base: MESSAGE },
      { path: '/v1/chat/completions', base: CHAT },
    ]) {
      assert.is((await ask(t, headers, undefined, sent)).status, 200);
      const { last, body } = sentOf(t);
      assert.is(body.messages[0]!.content, 'Review in Gö {{input}}:\nx = {{language}}');
      for (const name of Object.keys(headers)) assert.is(last.header(name), undefined, name);
    }
  }));

test('a template without a place for the text precedes it, in the last text of a list', () =>
  withTemplates(async (t) => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    await ask(t, { 'x-svc-template': 'role', ...vars({ who: 7 }) }, content);
    assert.equal(sentOf(t).body.messages[0]!.content, [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'You are 7.\n\ntwo' },
    ]);
  }));

test('a template that cannot be filled is refused with cause and remedy, and nothing is sent', () =>
  withTemplates(async (t) => {
    const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{ 'x-svc-template': 'none' }, /There is no template none; there are review, role/],
      [{ 'x-svc-template': '../../etc/passwd' }, /cannot be the name of a template/],
      [{ 'x-svc-template': 'role' }, /needs a value for who/],
      [{ 'x-svc-template': 'role', ...vars({ who: 'a', x: 'b' }) }, /has no variable x/],
      [{ 'x-svc-template': 'role', ...vars(['who']) }, /must be a JSON object of strings/],
      [{ 'x-svc-template': 'role', 'x-svc-template-vars': 'who=a' }, /a JSON object of strings/],
      [vars({ who: 'a' }), /is sent without x-svc-template/],
      [{ 'x-svc-template': 'role', 'x-svc-bypass': '1' }, /goes out as it came in/],
    ];
    for (const [headers, reason] of cases) {
      const { status, text } = await ask(t, headers);
      assert.is(status, 400, text);
      assert.match(text, reason);
    }
    const image = [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } },
    ];
    const { status, text } = await ask(
      t,
      { 'x-svc-template': 'role', ...vars({ who: 'a' }) },
      image,
    );
    assert.is(status, 400);
    assert.match(text, /no text of the user/);
    assert.is(t.upstream.requests.length, 0);
  }));

test('a field of the body works like the header, and is removed without changing other bytes', () =>
  withTemplates(async (t) => {
    const vars_ = { language: 'Gö' };
    const cases: readonly (readonly [unknown, string])[] = [
      [{ name: 'review', vars: vars_ }, 'Review in Gö:\\nx'],
      [{ name: 'role', vars: { who: 7 } }, 'You are 7.\\n\\nx'],
    ];
    for (const [field, content] of cases)
      for (const { path, base } of [
        { path: '/v1/messages', base: MESSAGE },
        { path: '/v1/chat/completions', base: CHAT },
      ])
        for (const place of ['first', 'middle', 'last']) {
          const { model, messages: _, ...more } = base as Record<string, unknown>;
          const member = `"svc_template" :  ${JSON.stringify(field)}`;
          const parts = [`"model":"${String(model)}"`, '"temperature":1.0 , "odd" : 1e3'];
          for (const [name, value] of Object.entries(more))
            parts.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
          const last = (text: string) => `"messages":[{"role":"user",  "content":"${text}"}]`;
          const at = { first: 0, middle: 1, last: parts.length + 1 }[place]!;
          const sent = [...parts, last('x')].toSpliced(at, 0, member);
          const response = await exchange(t.proxy.port, {
            path,
            body: `{\n${sent.join(',\n')}\n}`,
          });
          assert.is(response.status, 200, response.text);
          const expected = `{\n${[...parts, last(content)].join(',\n')}\n}`;
          assert.is(t.upstream.requests.at(-1)!.body.toString(), expected, place);
        }
  }));

test('a field that cannot be understood or filled is refused, and nothing is sent', () =>
  withTemplates(async (t) => {
    const cases: readonly (readonly [unknown, Readonly<Record<string, string>>, RegExp])[] = [
      ['none', {}, /There is no template none/],
      ['role', {}, /needs a value for who/],
      [null, {}, /svc_template: must be the name of a template/],
      [['role'], {}, /must be the name of a template/],
      [{ name: 'role', vars: 'who=a' }, {}, /must be the name of a template/],
      [{ name: 'role', vars: { who: null } }, {}, /must be the name of a template/],
      [{ name: 'role', values: { who: 'a' } }, {}, /must be the name of a template/],
      ['review', { 'x-svc-template': 'role' }, /both ask for a template/],
      ['review', { 'x-svc-bypass': '1' }, /svc_template: this request goes out as it came in/],
    ];
    for (const [field, headers, reason] of cases) {
      const body = json(MESSAGE, { svc_template: field });
      const { status, text } = await exchange(t.proxy.port, { headers, body });
      assert.is(status, 400, text);
      assert.match(text, reason);
    }
    assert.is(t.upstream.requests.length, 0);
  }));

test('a body with too many values to be parsed is refused with a template, and passes without one', () =>
  withTemplates(async (t) => {
    const content = Array.from({ length: 70_000 }, () => ({ type: 'text', text: 'svc_template' }));
    const messages = [{ role: 'user', content }];
    for (const base of [MESSAGE, CHAT]) {
      const path = base === CHAT ? '/v1/chat/completions' : '/v1/messages';
      for (const headers of [{}, { 'x-svc-bypass': '1' }]) {
        const body = json(base, { messages, svc_template: 'review' });
        const { status, text } = await exchange(t.proxy.port, { path, headers, body });
        assert.is(status, 400, text);
        assert.match(text, /svc_template: this request goes out as it came in/);
      }
      const named = { 'x-svc-template': 'review' };
      const sent = { path, headers: named, body: json(base, { messages }) };
      assert.is((await exchange(t.proxy.port, sent)).status, 400);
    }
    assert.is(t.upstream.requests.length, 0);
    // Inside a message the field belongs to the client.
    const inside = [{ role: 'user', content, metadata: { svc_template: 'review' } }];
    const passed = await exchange(t.proxy.port, { body: json(MESSAGE, { messages: inside }) });
    assert.is(passed.status, 200, passed.text);
  }));

test('counting tokens and other endpoints ignore the template', () =>
  withTemplates(async (t) => {
    const headers = { 'x-svc-template': 'review', ...vars({ language: 'Go' }) };
    const body = json(MESSAGE);
    for (const sent of [
      { path: '/v1/messages/count_tokens?beta=true', body },
      { path: '/v1/messages/count_tokens', body: json(MESSAGE, { svc_template: 'review' }) },
      { path: '/v1/embeddings', body: '{"model":"e","input":"x"}' },
      { path: '/v1/models', method: 'GET' },
    ]) {
      const response = await exchange(t.proxy.port, { ...sent, headers });
      assert.is(response.status, 200, `${sent.path}: ${response.text}`);
      const last = t.upstream.requests.at(-1)!;
      assert.equal([last.target, last.body.toString()], [sent.path, sent.body ?? '']);
      assert.not.match(last.headerBytes.toString(), /x-svc/i);
    }
  }));

test.run();
