/** The files of a new plugin: a working one, and a passing test. */

/** By file name. The plugin notes how large a request is, and marks its answer with a header. */
export function scaffold(name: string): ReadonlyMap<string, string> {
  return new Map([
    [`${name}.mjs`, pluginOf(name)],
    [`${name}.test.mjs`, testOf(name)],
  ]);
}

/** What makes a proxy load it. */
export function configurationOf(module: string): string {
  return `plugins:\n  - module: ${JSON.stringify(module)}\n    config: { header: x-request-words }\n`;
}

const pluginOf = (name: string) => `/**
 * Counts the words that a client sends and adds the count as a response header.
 *
 * @type {import('svc/plugins').PluginDefinition<{ header: string }>}
 */
export default {
  name: '${name}',

  // Validates \`config\`; setup receives the returned value.
  config({ header = 'x-request-words' }) {
    if (!/^[a-z0-9-]+$/.test(header)) throw new Error('header: must be a lower-case header name');
    return { header };
  },

  setup: ({ config, tools }) => ({
    stages: [
      {
        // Runs after this node: the request has been parsed, and its response passes through here.
        after: 'forward',
        // State of one request, available as ctx.state.
        open: () => ({ words: 0 }),
        on: {
          head(head, ctx) {
            const texts = tools.texts(head.request).map(({ text }) => text);
            ctx.state.words = texts.join(' ').split(/\\s+/).filter((word) => word !== '').length;
            // Shown in \`/trace/last\` and \`svc status\`.
            ctx.note('words', ctx.state.words);
            return { ...head, headers: [...head.headers, config.header, String(ctx.state.words)] };
          },
        },
      },
    ],
  }),
};
`;

const testOf = (name: string) => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from 'svc/testing';

// Runs the real proxy with this plugin against a local test provider.
test('counts the words of a tool result', async () => {
  const proxy = await testPlugin(new URL('./${name}.mjs', import.meta.url), {
    config: { header: 'x-words' },
  });
  try {
    const answer = await proxy.send({
      body: {
        model: 'claude-sonnet-4-5',
        max_tokens: 100,
        messages: [
          { role: 'user', content: 'What is in the file?' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Read', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'one two three' }] },
        ],
      },
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-words'], '3');
    assert.equal(answer.notes['${name}'].words, 3);
    assert.equal(answer.sent.body.messages.length, 3);
  } finally {
    await proxy.close();
  }
});
`;
