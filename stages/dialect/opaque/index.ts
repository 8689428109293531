/** The dialect of everything that passes unread. */
import { KEY_FIELDS } from '../../model/headers.ts';
import type { Dialect } from '../dialect.ts';
import { createObservers } from '../observe.ts';
import { opaqueErrorEvent } from './event.ts';
import { opaqueBlocks, opaqueFacts } from './request.ts';
import { opaqueReader } from './usage.ts';

export const opaqueDialect: Dialect = Object.freeze<Dialect>({
  name: 'opaque',
  validate: () => undefined,
  facts: opaqueFacts,
  blocks: opaqueBlocks,
  observeUsage: createObservers(opaqueReader),
  // Nobody can tell, so the first byte is taken to count.
  isContent: () => true,
  isTerminator: () => false,
  errorEvent: opaqueErrorEvent,
  keyHeaders: (key) => ['authorization', `Bearer ${key}`],
  credentialHeaders: KEY_FIELDS,
});
