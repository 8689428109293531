/** Keeps how every run went, so that `/trace/<id>` can show it stage by stage. */
import { defineStage } from '../../engine/index.ts';
import type { ProxyFrame } from '../model/frame.ts';
import type { Services } from '../services.ts';

/** Acts only when a run has settled. */
export const trace = defineStage<ProxyFrame, undefined, Services>({
  name: 'trace',
  build: (_config, services) => ({
    settled(settlement, ctx) {
      const { id, startedWallMs } = ctx.run;
      services.traces.add({ id, startedWallMs, settlement });
    },
  }),
});
