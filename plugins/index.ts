/**
 * The public entry point for authors: providers that are code, and plugins that add stages.
 * `docs/plugins.md` describes how to write, test and configure one.
 */

export type { HookedEvent, HookedRequest, HookedResponse } from '../stages/providers/hooks.ts';
export type { PluginHooks } from './hooks.ts';
export { definePlugin } from './plugin.ts';
export type { PluginApi, PluginDefinition, PluginSetup } from './plugin.ts';
export type { HandlerStage, OnFault, PluginStage, StreamStage } from './plugin-stage.ts';
export type { OwnAnswer, StageTools, StreamEvent } from './stage-tools.ts';
export { testProvider } from './test-provider.ts';
export type { ProviderTest } from './test-provider.ts';
export { defineProvider } from './provider.ts';
export type { ProviderDefinition } from './provider.ts';
export type { PluginView } from './view.ts';
