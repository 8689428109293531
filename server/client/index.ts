/** The public entry point of the client adapters (`svc/client`). */
export { AgentFrameworkAdapter } from './agent.ts';
export { SvcAdapter } from './adapter.ts';
export type { AdapterOptions, CallOptions } from './adapter.ts';
export { ChatCompletionsAdapter } from './chat.ts';
export type { ChatAnswer, ChatChoice, ChatRequest } from './chat.ts';
export type { ChatTurn, TokenCounts } from './dialect.ts';
export { SvcAdapterError, SvcAuthError, SvcConfigError, SvcTimeoutError } from './errors.ts';
export type { AdapterErrorDetails } from './errors.ts';
export type { LanguageModel } from './language-model.ts';
export { MessagesAdapter } from './messages.ts';
export type { MessagesAnswer, MessagesContent, MessagesRequest } from './messages.ts';
export { MultiProviderAdapter } from './multi.ts';
export type { MultiProviderOptions, MultiProviderRequest } from './multi.ts';
export type { JsonObject } from './transport.ts';
