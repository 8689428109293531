/** The real AI SDK through the adapter and the proxy: text, streams, tools, images, errors. */
import { generateText, stepCountIs, streamText, tool } from 'ai';
import type { LanguageModel as AnyModel } from 'ai';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { withProxy } from '../../fixtures/proxy.ts';
import { AgentFrameworkAdapter, SvcAdapterError, SvcConfigError } from './index.ts';

const MODELS = ['claude-fixture-1', 'gpt-fixture-1'] as const;
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const weather = tool({
  description: 'Tells the weather of a place',
  inputSchema: z.object({ place: z.string() }),
  execute: ({ place }) => Promise.resolve(`Rain in ${place}`),
});

function modelOf(url: string, name: string): AnyModel {
  // Assigned to the SDK's own type: the restated interface fits it, or this does not compile.
  return new AgentFrameworkAdapter({ baseUrl: url, apiKey: 'mine' }).languageModel(name);
}

for (const name of MODELS) {
  test(`${name}: generateText and streamText`, () =>
    withProxy({}, async (t) => {
      const model = modelOf(t.proxy.url, name);
      const whole = await generateText({
        model,
        system: 'Be brief.',
        prompt: 'Say hello.',
        temperature: 0.5,
        stopSequences: ['END'],
        maxRetries: 0,
      });
      assert.match(whole.text, /^You said: Say hello/);
      assert.is(whole.finishReason, 'stop');
      assert.ok((whole.usage.inputTokens ?? 0) > 0 && (whole.usage.outputTokens ?? 0) > 0);
      const sent = JSON.parse(t.upstream.requests[0]?.body.toString() ?? '') as object;
      assert.not.ok('dialect' in sent, 'options of svc are not sent');
      const streamed = streamText({ model, prompt: 'Say hello.', maxRetries: 0 });
      const pieces: string[] = [];
      for await (const piece of streamed.textStream) pieces.push(piece);
      assert.match(pieces.join(''), /^You said: Say hello/);
      assert.ok(pieces.length > 1);
      assert.is(await streamed.finishReason, 'stop');
      assert.ok(((await streamed.usage).outputTokens ?? 0) > 0);
    }));

  test(`${name}: a tool loop ends with text, whole and streamed`, () =>
    withProxy({}, async (t) => {
      const model = modelOf(t.proxy.url, name);
      const options = {
        model,
        prompt: 'What is the weather in Oslo?',
        tools: { weather },
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      };
      const whole = await generateText(options);
      assert.is(whole.steps.length, 2);
      assert.is(whole.steps[0]?.toolCalls[0]?.toolName, 'weather');
      assert.match(String(whole.steps[0]?.toolResults[0]?.output), /^Rain in/);
      assert.ok(whole.text.length > 0);
      assert.match(t.upstream.requests[1]?.body.toString() ?? '', /Rain in/);
      const streamed = streamText(options);
      await streamed.consumeStream();
      const steps = await streamed.steps;
      assert.is(steps.length, 2);
      assert.equal(steps[0]?.toolCalls[0]?.input, whole.steps[0]?.toolCalls[0]?.input);
    }));

  test(`${name}: an image is sent`, () =>
    withProxy({}, async (t) => {
      const content = [
        { type: 'text' as const, text: 'What is this?' },
        { type: 'image' as const, image: PIXEL },
      ];
      await generateText({
        model: modelOf(t.proxy.url, name),
        messages: [{ role: 'user', content }],
        maxRetries: 0,
      });
      assert.ok(t.upstream.requests[0]?.body.includes(PIXEL.toString('base64')));
    }));

  test(`${name}: a refused request and a broken stream throw adapter errors`, () =>
    withProxy({}, async (t) => {
      const model = modelOf(t.proxy.url, name);
      const errors: unknown[] = [];
      const onError = ({ error }: { error: unknown }) => void errors.push(error);
      t.upstream.script(undefined, 'status', { status: 400 });
      await generateText({ model, prompt: 'Hi', maxRetries: 0 }).catch((error: unknown) =>
        errors.push(error),
      );
      await streamText({ model, prompt: 'Hi', maxRetries: 0, onError }).consumeStream();
      t.upstream.script(undefined, 'reset-mid-body');
      await streamText({ model, prompt: 'Hi', maxRetries: 0, onError }).consumeStream();
      assert.is(errors.length, 3);
      for (const error of errors) assert.instance(error, SvcAdapterError);
    }));
}

test('reasoning and its signature are sent back in the next turn, and providerOptions add fields', () =>
  withProxy({}, async (t) => {
    const options = {
      model: modelOf(t.proxy.url, 'claude-fixture-1'),
      prompt: 'What is the weather in Oslo?',
      tools: { weather },
      stopWhen: stepCountIs(3),
      providerOptions: { svc: { thinking: { type: 'enabled', budget_tokens: 1024 } } },
      maxRetries: 0,
    };
    const whole = await generateText(options);
    assert.match(whole.steps[0]?.reasoningText ?? '', /Weighing/);
    await streamText(options).consumeStream();
    for (const index of [1, 3]) {
      const sent = t.upstream.requests[index]?.body.toString() ?? '';
      assert.match(sent, /"type":"thinking","thinking":"Weighing[^"]*","signature":"c2ln/);
    }
  }));

test('an option that the dialect cannot express gives a warning or a config error', () =>
  withProxy({}, async (t) => {
    const model = modelOf(t.proxy.url, 'claude-fixture-1');
    const { warnings } = await generateText({ model, prompt: 'Hi', seed: 7, maxRetries: 0 });
    assert.equal(
      warnings?.map((warning) => (warning.type === 'unsupported' ? warning.feature : warning.type)),
      ['seed'],
    );
    const file = { type: 'file' as const, mediaType: 'audio/wav', data: PIXEL };
    const generated = generateText({
      model,
      messages: [{ role: 'user', content: [file] }],
      maxRetries: 0,
    });
    const error: unknown = await generated.catch((thrown: unknown) => thrown);
    assert.instance(error, SvcConfigError);
    assert.match((error as Error).message, /audio\/wav/);
  }));

test.run();
