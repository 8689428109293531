/** Writes the name of a release where requests say {release}. */
export default {
  name: 'release-name',

  // Receives the plugin's `config` from the configuration; setup gets what this returns.
  config({ name } = {}) {
    if (typeof name !== 'string' || name === '') throw new Error('name: a string is required');
    return { name };
  },

  setup: ({ config, tools }) => ({
    stages: [
      {
        // The body as the client sent it, before any other stage.
        before: 'parse',
        on: {
          body(frame, ctx) {
            const parts = Buffer.from(frame.bytes).toString('utf8').split('{release}');
            ctx.note('releases', parts.length - 1); // shown in the trace
            if (parts.length === 1) return undefined; // nothing to change: the bytes are kept
            // The body is JSON, so the name is escaped as in a JSON string.
            const written = JSON.stringify(config.name).slice(1, -1);
            return tools.withBody(frame, Buffer.from(parts.join(written)));
          },
        },
      },
      {
        // After this node the request has been sent, and its answer passes here.
        name: 'release-header', // a second stage needs its own name
        after: 'forward',
        on: {
          head: (head) => ({ ...head, headers: [...head.headers, 'x-release', config.name] }),
        },
      },
    ],
  }),
};
