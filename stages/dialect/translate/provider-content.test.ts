/**
 * Content that the messages provider stores, fetches or summarizes itself, as another provider gets
 * it.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, skipOf, user } from '../../../fixtures/dialect/translation.ts';

const OTHERS = ['chat', 'responses', 'generative'] as const;

const body = (...messages: readonly object[]): object => ({
  model: 'claude-opus-5-5',
  max_tokens: 5000,
  messages,
});
const assistant = (...content: readonly object[]): object => ({ role: 'assistant', content });
const textBlock = (text: string): object => ({ type: 'text', text });

for (const to of OTHERS) {
  test(`${to}: a summary replaces the messages before it and begins the conversation`, () => {
    const summed = body(
      user('the first question'),
      assistant(textBlock('the first answer')),
      user('the second'),
      assistant(
        textBlock('before'),
        { type: 'compaction', content: 'the summary' },
        textBlock('after'),
      ),
      user('the last'),
    );
    const { body: sent, notes } = ask('messages', to, summed);
    const text = JSON.stringify(sent);
    assert.not.match(text, /the first|the second|before/);
    assert.match(text, /the summary.*after.*the last/);
    assert.match(notes.join(), 'the summary replaces them');
    if (to === 'generative') {
      const [first] = sent['contents'] as { role: string }[];
      assert.is(first!.role, 'user');
    }
  });

  test(`${to}: a failed summary is ignored`, () => {
    const failed = body(
      user('one'),
      assistant({ type: 'compaction', content: null }, textBlock('two')),
      user('three'),
    );
    assert.match(JSON.stringify(ask('messages', to, failed).body), /one.*two.*three/);
  });

  test(`${to}: a fetched page and a document of parts are sent as text`, () => {
    const page = {
      type: 'document',
      title: 'A page',
      source: { type: 'text', media_type: 'text/plain', data: 'what the page says' },
    };
    const fetched = body(
      user('fetch'),
      assistant(
        {
          type: 'server_tool_use',
          id: 's1',
          name: 'web_fetch',
          input: { url: 'https://a.example' },
        },
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 's1',
          content: { type: 'web_fetch_result', url: 'https://a.example', content: page },
        },
      ),
      user([
        {
          type: 'document',
          source: { type: 'content', content: [textBlock('part 1'), textBlock('part 2')] },
        },
        { type: 'document', source: { type: 'content', content: 'part 3' } },
        textBlock('and now?'),
      ]),
    );
    const text = JSON.stringify(ask('messages', to, fetched).body);
    assert.match(text, /A page.*what the page says.*part 1\\npart 2.*part 3.*and now/);
  });

  test(`${to}: base64 data in a block is not text`, () => {
    const pdf = {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' },
    };
    const block = { type: 'web_fetch_tool_result', tool_use_id: 's1', content: { content: pdf } };
    const sent = ask('messages', to, body(user('q'), assistant(block, textBlock('a')), user('go')));
    assert.not.match(JSON.stringify(sent.body), 'JVBERi0x');
  });

  test(`${to}: a request that only warms the cache is refused`, () => {
    assert.match(skipOf('messages', to, { ...body(user('q')), max_tokens: 0 }), 'warms the cache');
  });
}

test('instructions for one turn keep their place so that the prefix is stable, and the newest effort counts', () => {
  const reminder = (text: string, effort: string): object => ({
    role: 'system',
    content: text,
    clear_at: 'next_user_message',
    output_config: { effort },
  });
  const permanent = { role: 'system', content: 'for good' };
  const first = [user('one'), reminder('only now', 'low')];
  const later = [
    ...first,
    assistant(textBlock('two')),
    user('three'),
    permanent,
    reminder('and now', 'high'),
  ];
  for (const to of OTHERS) {
    const translated = ask('messages', to, body(...first), { model: 'gpt-5' });
    assert.match(JSON.stringify(translated.body), 'only now');
    const { body: sent } = ask('messages', to, body(...later), { model: 'gpt-5' });
    assert.match(JSON.stringify(sent), /only now.*two.*three.*for good.*and now/);
  }
  const effort = (messages: readonly object[]): unknown =>
    ask('messages', 'chat', body(...messages), { model: 'gpt-5' }).body['reasoning_effort'];
  assert.equal([effort(first), effort(later)], ['low', 'high']);
  assert.is(effort([...first, assistant(textBlock('two')), user('three')]), undefined);
});

test('tools defined in the summarised part are offered', () => {
  const definition = { name: 'later', input_schema: { type: 'object' } };
  const tool_changes = [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }];
  const summary = { type: 'compaction', content: 'the summary', signature: 's', tool_changes };
  const { body: sent } = ask('messages', 'chat', body(assistant(summary), user('go on')));
  assert.match(JSON.stringify(sent['tools']), '"name":"later"');
});

test('thinking only between tools is translated to none, whatever the effort', () => {
  const translated = {
    ...body(user('q')),
    thinking: { type: 'between_tools' },
    output_config: { effort: 'medium' },
  };
  const { body: sent, notes } = ask('messages', 'chat', translated, { model: 'gpt-5' });
  assert.is(sent['reasoning_effort'], undefined);
  assert.match(notes.join(), 'effort left out');
});

test.run();
