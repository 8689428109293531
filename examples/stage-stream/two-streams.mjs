/**
 * The plugin of `examples/stage` with TransformStreams only, for requests and for answers: the form
 * for stages that hold frames back, emit on a timer, or wrap an existing stream. It passes on, in
 * order, every frame that it does not change; the platform handles backpressure, errors and
 * cancellation.
 */
export default {
  name: 'two-streams',

  config({ name } = {}) {
    if (typeof name !== 'string' || name === '') throw new Error('name: a string is required');
    return { name };
  },

  setup: ({ config, tools }) => ({
    stages: [
      {
        before: 'parse',
        // Called once per request: keep the state of a request in here.
        transform: (ctx) =>
          new TransformStream({
            transform(frame, controller) {
              if (frame.kind !== 'body') return controller.enqueue(frame);
              const parts = Buffer.from(frame.bytes).toString('utf8').split('{release}');
              ctx.note('releases', parts.length - 1);
              const written = JSON.stringify(config.name).slice(1, -1);
              controller.enqueue(
                parts.length === 1
                  ? frame
                  : tools.withBody(frame, Buffer.from(parts.join(written))),
              );
            },
          }),
      },
      {
        name: 'two-streams-header',
        after: 'forward',
        transform: () =>
          new TransformStream({
            transform(frame, controller) {
              controller.enqueue(
                frame.kind === 'head'
                  ? { ...frame, headers: [...frame.headers, 'x-release', config.name] }
                  : frame,
              );
            },
          }),
      },
    ],
  }),
};
