/** The graph that every request goes through, declared in one place. */
import { chain } from '../engine/index.ts';
import type { Graph } from '../engine/index.ts';
import type { ForwardConfig } from './forward/config.ts';
import { compress } from './compress/stage.ts';
import type { CompressConfig } from './compress/settings.ts';
import { forward } from './forward/stage.ts';
import type { InjectConfig } from './inject/config.ts';
import { inject } from './inject/stage.ts';
import { meter } from './meter/stage.ts';
import { proxyFrameKinds } from './model/frame.ts';
import type { ProxyFrame } from './model/frame.ts';
import { parse } from './parse/stage.ts';
import { protect } from './protect/stage.ts';
import type { RouteConfig } from './route/config.ts';
import { route } from './route/stage.ts';
import type { Services } from './services.ts';
import { split } from './split/stage.ts';
import { trace } from './trace/stage.ts';

/** The configuration of every stage that has one. */
export interface GraphConfig {
  readonly compress: CompressConfig;
  readonly inject: InjectConfig;
  readonly route: RouteConfig;
  readonly forward: ForwardConfig;
}

/** parse → protect → compress → inject → route → forward → meter → trace. */
export function defaultGraph(config: GraphConfig, services: Services): Graph<ProxyFrame> {
  return chain(
    proxyFrameKinds,
    [
      parse(undefined, services),
      protect(undefined, services),
      compress(config.compress, services),
      inject(config.inject, services),
      route(config.route, services),
      forward(config.forward, services),
      meter(undefined, services),
      trace(undefined, services),
    ],
    split(undefined, services),
  );
}
