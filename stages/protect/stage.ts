/**
 * Marks blocks that may never be rewritten and reports their amount in the trace. The rule itself
 * is in `model/protect.ts` and applies to every edit, even if a graph lacks this stage.
 */
import { defineStage } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { Services } from '../services.ts';

/** Watches `request`. */
export const protect = defineStage<ProxyFrame, undefined, Services>({
  name: 'protect',
  build: () => ({
    watch: {
      request({ request }, ctx) {
        const { original } = request;
        if (!original.endpoint.rewritable) return;
        const blocks = original.blocks();
        let marked = 0;
        for (const block of blocks)
          if (original.protectedBy(block.index) !== undefined) marked += 1;
        ctx.note('blocks', blocks.length);
        ctx.note('protected_blocks', marked);
      },
    },
  }),
});
