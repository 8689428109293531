/**
 * A stage that takes part in the pass of `compress` over a conversation: it adds recipes and
 * settings to the request as data. The stage `recipes` is one, and so is every macro.
 */
import { defineStage } from '../../engine/index.ts';
import type { Stage } from '../../engine/index.ts';
import type { ProxyFrame, RequestFrame } from '../model/frame.ts';
import type { Pass, PassPart } from '../model/pass.ts';
import { isRewritable, withPass } from '../model/request.ts';

/**
 * Creates the stage `name` that adds `part`; it does nothing for a request that must not be
 * changed.
 */
export function passStage(name: string, part: PassPart): Stage<ProxyFrame> {
  const build = defineStage<ProxyFrame, PassPart, undefined>({
    name,
    build(added) {
      // Nearly every request has one part: that of the recipes.
      const alone: Pass = Object.freeze([added]);
      return {
        on: {
          request({ request }): RequestFrame | undefined {
            if (!isRewritable(request)) return undefined;
            const pass = request.pass.length === 0 ? alone : [...request.pass, added];
            return Object.freeze({ kind: 'request', request: withPass(request, pass) });
          },
        },
      };
    },
  });
  return build(part, undefined);
}
