/** The graph that every request goes through, declared in one place. */
import type { Graph, Stage } from '../engine/index.ts';
import { compress } from './compress/stage.ts';
import type { CompressConfig } from './compress/settings.ts';
import type { ForwardConfig } from './forward/config.ts';
import { forward } from './forward/stage.ts';
import type { InjectConfig } from './inject/settings.ts';
import { inject } from './inject/stage.ts';
import type { KeepConfig } from './keep/stage.ts';
import { keep } from './keep/stage.ts';
import type { LookupConfig } from './lookup/stage.ts';
import { lookup } from './lookup/stage.ts';
import { meter } from './meter/stage.ts';
import { proxyFrameKinds } from './model/frame.ts';
import type { ProxyFrame } from './model/frame.ts';
import { parse } from './parse/stage.ts';
import { protect } from './protect/stage.ts';
import type { RouteConfig } from './providers/route-config.ts';
import { route } from './route/stage.ts';
import type { Services } from './services.ts';
import type { SpendConfig } from './spend/stage.ts';
import { spend } from './spend/stage.ts';
import { template } from './template/stage.ts';
import type { TemplateConfig } from './template/stage.ts';
import { split } from './split/stage.ts';
import { trace } from './trace/stage.ts';

/** The configuration of every stage that has one. */
export interface GraphConfig {
  readonly template: TemplateConfig;
  readonly compress: CompressConfig;
  readonly inject: InjectConfig;
  readonly route: RouteConfig;
  readonly lookup: LookupConfig;
  readonly spend: SpendConfig;
  readonly forward: ForwardConfig;
  readonly keep: KeepConfig;
}

/**
 * parse → template → protect → compress → inject → route → lookup → spend → forward → keep → meter
 * → trace; an answer from the cache goes from lookup straight to meter.
 */
export function defaultGraph(config: GraphConfig, services: Services): Graph<ProxyFrame> {
  const stages: Stage<ProxyFrame>[] = [
    parse(config.route, services),
    template(config.template, services),
    protect(undefined, services),
    compress(config.compress, services),
    inject(config.inject, services),
    route(config.route, services),
    lookup(config.lookup, services),
    spend(config.spend, services),
    forward(config.forward, services),
    keep(config.keep, services),
    meter(undefined, services),
    trace(undefined, services),
  ];
  return {
    kinds: proxyFrameKinds,
    entry: 'parse',
    nodes: stages.map((stage) => ({ name: stage.name, stage })),
    edges: [
      { from: 'parse', to: 'template' },
      { from: 'template', to: 'protect' },
      { from: 'protect', to: 'compress' },
      { from: 'compress', to: 'inject' },
      { from: 'inject', to: 'route' },
      { from: 'route', to: 'lookup' },
      { from: 'lookup', on: 'request', to: 'spend' },
      { from: 'spend', to: 'forward' },
      { from: 'lookup', on: 'response', to: 'meter' },
      { from: 'forward', to: 'keep' },
      { from: 'keep', to: 'meter' },
      { from: 'meter', to: 'trace' },
    ],
    splitter: split(undefined, services),
  };
}
