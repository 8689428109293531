/** `streaming.*`: how responses are streamed to clients. */
import { count, flag, kind, wholeNumber } from '../../../stages/settings/kind.ts';
import { isRaised, setting } from '../../../stages/settings/setting.ts';
import { slice } from '../../../stages/settings/slice.ts';

export const streaming = slice({
  enabled: setting('streaming.enabled', {
    type: flag,
    default: true,
    about: 'Off: answers are fetched whole and sent as one short stream.',
  }),
  formats: setting('streaming.formats', {
    type: kind([`'sse' | 'chunked'`, '[]'], 'a list of sse and chunked'),
    default: ['sse', 'chunked'],
    about: 'Stream formats that a client may ask for.',
    refuse: (formats) =>
      formats.length > 0
        ? []
        : [
            {
              reason: 'an empty list leaves no format for a stream; name sse, chunked or both',
              expected: 'sse, chunked or both',
            },
          ],
  }),
  bufferTokens: setting('streaming.buffer_tokens', {
    type: wholeNumber(0, 100_000, 'tokens,'),
    default: 0,
    about: 'Tokens that are held back and sent together; 0 sends each event as it arrives.',
  }),
  flushIntervalMs: setting('streaming.flush_interval_ms', {
    type: wholeNumber(1, 60_000, 'milliseconds,'),
    default: 500,
    about: 'Milliseconds after which held-back tokens are sent anyway.',
  }),
  maxConcurrentStreams: setting('streaming.max_concurrent_streams', {
    type: count('streams', 1),
    default: 1000,
    about: 'Streams that may run at the same time; a further one gets 503.',
    loosens: isRaised,
  }),
});
