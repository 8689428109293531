/**
 * The adapter for agent frameworks: everything in `MultiProviderAdapter`, plus a language model for
 * the Vercel AI SDK, so that its agents and tools run through the proxy.
 */
import { PartReader, readAnswer, toUsage } from './agent-answer.ts';
import { writeCall } from './agent-request.ts';
import type { WrittenCall } from './agent-request.ts';
import type { CallOptions } from './adapter.ts';
import type { LanguageModel, ModelCall, ModelResult, ModelStreamPart } from './language-model.ts';
import { MultiProviderAdapter } from './multi.ts';
import type { JsonObject } from './transport.ts';

/**
 * `generateText({ model: new AgentFrameworkAdapter({…}).languageModel('claude-opus-4-5'), … })`.
 */
export class AgentFrameworkAdapter extends MultiProviderAdapter {
  /** A model of the AI SDK (language model interface, version 3). */
  languageModel(modelId: string): LanguageModel {
    return {
      specificationVersion: 'v3',
      provider: 'svc',
      modelId,
      supportedUrls: { 'image/*': [/^https?:\/\/.*$/] },
      doGenerate: (call) => this.#generate(modelId, call),
      doStream: (call) => this.#stream(modelId, call),
    };
  }

  #write(modelId: string, call: ModelCall): WrittenCall {
    const { name } = this.dialectOfRequest({ model: modelId });
    return writeCall(modelId, name, call);
  }

  async #generate(modelId: string, call: ModelCall): Promise<ModelResult> {
    const { request, warnings } = this.#write(modelId, call);
    const body = this.prepareRequest(request);
    const response = await this.send(body, optionsOf(call));
    this.parseResponse(response);
    const { id, model } = response;
    return {
      ...readAnswer(response),
      usage: toUsage(this.extractTokens(response)),
      warnings,
      request: { body: this.bodyOf(body) },
      response: {
        ...(typeof id === 'string' && { id }),
        ...(typeof model === 'string' && { modelId: model }),
        body: response,
      },
    };
  }

  async #stream(modelId: string, call: ModelCall) {
    const { request, warnings } = this.#write(modelId, call);
    const { name } = this.dialectOfRequest({ model: modelId });
    const body =
      name === 'chat' ? { stream_options: { include_usage: true }, ...request } : request;
    const events = this.stream(body, optionsOf(call));
    // Awaiting the first event makes a refused request reject, as the SDK expects.
    const first = await events.next();
    const reader = new PartReader();
    const usageOf = (usage: JsonObject) =>
      toUsage(this.extractTokens(name === 'messages' ? { type: 'message', usage } : { usage }));

    async function* parts(): AsyncGenerator<ModelStreamPart> {
      yield { type: 'stream-start', warnings };
      try {
        if (first.done !== true) yield* reader.read(first.value);
        for await (const event of events) yield* reader.read(event);
        yield* reader.close();
        yield { type: 'finish', usage: usageOf(reader.usage), finishReason: reader.finishReason };
      } catch (error) {
        yield { type: 'error', error };
      }
    }
    return {
      stream: toReadable(parts(), () => events.return()),
      request: { body: body as JsonObject },
    };
  }
}

function optionsOf({ abortSignal, headers = {} }: ModelCall): CallOptions {
  const given = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return {
    ...(abortSignal !== undefined && { signal: abortSignal }),
    headers: Object.fromEntries(given),
  };
}

/** Pulls one part per read; a cancelled reader closes the source. */
function toReadable<T>(
  parts: AsyncGenerator<T>,
  onCancel: () => Promise<unknown>,
): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await parts.return(undefined);
      await onCancel();
    },
  });
}
