/**
 * The bundled plugin of providers that are code: each is a node inside `forward`, which reports
 * when it is called.
 */
import { defineStage } from '../../engine/index.ts';
import { TRANSLATABLE } from '../../stages/dialect/translatable.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { providerNode } from '../../stages/providers/provider-node.ts';
import type { ProviderDefinition } from '../provider.ts';
import type { BundledPlugin } from './bundled.ts';

const NAME = 'providers';

/** A provider that is code. */
export interface ProviderCode {
  readonly name: string;
  readonly definition: Pick<ProviderDefinition, 'kind' | 'request' | 'response' | 'event'>;
  /** The plugin that defines it; undefined for one of `custom_providers`. */
  readonly plugin: string | undefined;
}

export function providersPlugin(providers: readonly ProviderCode[]): BundledPlugin {
  return {
    name: NAME,
    insertions: providers.map(({ name, definition, plugin = NAME }) => ({
      stage: toStage(providerNode(name)),
      plugin,
      within: 'forward',
      about: phrasesOf(definition),
    })),
  };
}

/** Has no handlers: an attempt is not a frame of the graph, and `forward` times it. */
const toStage = (name: string) =>
  defineStage<ProxyFrame, undefined, undefined>({ name, build: () => ({}) })(undefined, undefined);

/** Describes its steps, its dialect, and the client dialects that are translated into it. */
function phrasesOf({ kind, request, response, event }: ProviderCode['definition']) {
  const hooked = (step: string, isHooked: boolean): string => (isHooked ? `${step} (hook)` : step);
  const others = TRANSLATABLE.filter((dialect) => dialect !== kind);
  return [
    [
      hooked('request', request !== undefined),
      'upstream',
      hooked('answer', response !== undefined || event !== undefined),
    ].join(' → '),
    `speaks ${kind}`,
    `translates ${others.join(' ')}`,
  ];
}
