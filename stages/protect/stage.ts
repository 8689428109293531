/**
 * Marks what may never be rewritten and says in the trace how much of it there
 * is. The rule itself stands in `model/protect.ts` and binds every edit, also
 * where this stage was left out of a graph.
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
