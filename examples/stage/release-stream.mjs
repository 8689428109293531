import plugin from './release-name.mjs';

export default {
  ...plugin,
  setup: ({ config, tools }) => ({
    stages: [
      plugin.setup({ config, tools }).stages[0],
      {
        name: 'release-header',
        after: 'forward',
        // One stream per request. It passes on, in order, every frame that it does not change.
        transform: () =>
          new TransformStream({
            transform(frame, controller) {
              const isHead = frame.kind === 'head';
              const headers = isHead ? [...frame.headers, 'x-release', config.name] : undefined;
              controller.enqueue(isHead ? { ...frame, headers } : frame);
            },
          }),
      },
    ],
  }),
};
