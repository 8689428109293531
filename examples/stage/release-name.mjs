/** Writes the name of a release where requests say {release}. */
export default {
  name: 'release-name',

  // What stands under `config` in the configuration; what this returns is what setup gets.
  config({ name } = {}) {
    if (typeof name !== 'string' || name === '') throw new Error('name: a text is wanted');
    return { name };
  },

  setup: ({ config, tools }) => ({
    stages: [
      {
        // The body as the client sent it, before anything has read it.
        before: 'parse',
        on: {
          body(frame, ctx) {
            const parts = Buffer.from(frame.bytes).toString('utf8').split('{release}');
            ctx.note('releases', parts.length - 1); // stands in the trace
            if (parts.length === 1) return undefined; // nothing to change: the bytes stay
            // Into JSON it goes as JSON writes it.
            const written = JSON.stringify(config.name).slice(1, -1);
            return tools.withBody(frame, Buffer.from(parts.join(written)));
          },
        },
      },
      {
        // Behind this node the request has been sent, and its answer comes back through here.
        name: 'release-header', // a second stage needs a name of its own
        after: 'forward',
        on: {
          head: (head) => ({ ...head, headers: [...head.headers, 'x-release', config.name] }),
        },
      },
    ],
  }),
};
