/**
 * The part of the Vercel AI SDK's language model interface (version 3) that an adapter implements,
 * restated so that the other adapters work without the SDK. A test compares these types with the
 * SDK's own.
 */
import type { JsonObject } from './transport.ts';

export type PromptPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly providerOptions?: unknown }
  | {
      readonly type: 'file';
      readonly mediaType: string;
      readonly data: Uint8Array | string | URL;
      readonly filename?: string | undefined;
    }
  | {
      readonly type: 'tool-call';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
    }
  | {
      readonly type: 'tool-result';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly output: { readonly type: string; readonly value?: unknown };
    }
  | { readonly type: 'tool-approval-response' };

export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly PromptPart[];
}

export interface ModelTool {
  readonly type: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly strict?: boolean | undefined;
}

export interface ModelCall {
  readonly prompt: readonly PromptMessage[];
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly seed?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly responseFormat?:
    | { readonly type: 'text' }
    | { readonly type: 'json'; readonly schema?: unknown; readonly name?: string | undefined }
    | undefined;
  readonly tools?: readonly ModelTool[] | undefined;
  readonly toolChoice?:
    | { readonly type: 'auto' | 'none' | 'required' }
    | { readonly type: 'tool'; readonly toolName: string }
    | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** The fields under `svc` are added to the request body unchanged. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>> | undefined;
}

export type ModelWarning =
  | { type: 'unsupported'; feature: string; details?: string }
  | { type: 'other'; message: string };

export interface ModelUsage {
  inputTokens: {
    total: number | undefined;
    noCache: number | undefined;
    cacheRead: number | undefined;
    cacheWrite: number | undefined;
  };
  outputTokens: {
    total: number | undefined;
    text: number | undefined;
    reasoning: number | undefined;
  };
}

export interface ModelFinish {
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  raw: string | undefined;
}

export type ModelContent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string; providerMetadata?: { svc: { signature: string } } }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string };

export type ModelStreamPart =
  | { type: 'stream-start'; warnings: ModelWarning[] }
  | { type: 'response-metadata'; id?: string; modelId?: string }
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | {
      type: 'reasoning-start' | 'reasoning-end';
      id: string;
      providerMetadata?: { svc: { signature: string } };
    }
  | { type: 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  | { type: 'finish'; usage: ModelUsage; finishReason: ModelFinish }
  | { type: 'error'; error: unknown };

export interface ModelResult {
  content: ModelContent[];
  finishReason: ModelFinish;
  usage: ModelUsage;
  warnings: ModelWarning[];
  request: { body: JsonObject };
  response: { id?: string; modelId?: string; body: JsonObject };
}

/** The `model` of `generateText`, `streamText` and agents in the SDK. */
export interface LanguageModel {
  readonly specificationVersion: 'v3';
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(call: ModelCall): Promise<ModelResult>;
  doStream(call: ModelCall): Promise<{
    stream: ReadableStream<ModelStreamPart>;
    request: { body: JsonObject };
  }>;
}
