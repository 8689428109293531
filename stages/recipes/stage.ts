/**
 * A stage that takes part in the pass that `compress` makes over a conversation: it adds recipes
 * and settings to the request as data. The stage `recipes` is one, and every macro is.
 */
import { defineStage } from '../../engine/index.ts';
import type { Stage } from '../../engine/index.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import type { PassPart } from '../model/pass.ts';
import { isRewritable, withPassPart } from '../model/request.ts';

/** The stage called `name` that adds `part`; for a request that must not be changed it does nothing. */
export function passStage(name: string, part: PassPart): Stage<ProxyFrame> {
  const build = defineStage<ProxyFrame, PassPart, undefined>({
    name,
    build: (added) => ({
      on: {
        request({ request }): RequestFrame | undefined {
          if (!isRewritable(request)) return undefined;
          return Object.freeze({ kind: 'request', request: withPassPart(request, added) });
        },
      },
    }),
  });
  return build(part, undefined);
}
