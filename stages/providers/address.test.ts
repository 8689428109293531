/** Maps documented base URLs to the URLs of the endpoints. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { shownEndpoint, toAddress, upstreamPath } from './address.ts';
import type { ProviderKind } from './provider.ts';

function urlOf(kind: ProviderKind, baseUrl: string, target: string): string {
  const address = toAddress(kind, baseUrl);
  return address.origin + upstreamPath(address, target);
}

const CLOUDFLARE = 'https://gateway.ai.cloudflare.com/v1/account/gateway';
const VERTEX = 'https://aiplatform.googleapis.com/v1/projects/p/locations/global';

/** Base URLs from the manuals, each with the URL that precedes the endpoint. */
const CHAT: readonly (readonly [baseUrl: string, serves: string])[] = [
  ['https://api.openai.com', 'https://api.openai.com/v1'],
  ['https://api.openai.com/v1', 'https://api.openai.com/v1'],
  ['https://api.openai.com/v1/', 'https://api.openai.com/v1'],
  ['https://api.z.ai/api/paas/v4', 'https://api.z.ai/api/paas/v4'],
  ['https://api.z.ai/api/paas/v4/', 'https://api.z.ai/api/paas/v4'],
  ['https://api.z.ai/api/coding/paas/v4', 'https://api.z.ai/api/coding/paas/v4'],
  ['https://open.bigmodel.cn/api/paas/v4', 'https://open.bigmodel.cn/api/paas/v4'],
  [
    'https://generativelanguage.googleapis.com/v1beta/openai/',
    'https://generativelanguage.googleapis.com/v1beta/openai',
  ],
  [`${VERTEX}/endpoints/openapi`, `${VERTEX}/endpoints/openapi`],
  ['https://ark.cn-beijing.volces.com/api/v3', 'https://ark.cn-beijing.volces.com/api/v3'],
  [
    'https://ark.cn-beijing.volces.com/api/coding/v3',
    'https://ark.cn-beijing.volces.com/api/coding/v3',
  ],
  ['https://qianfan.baidubce.com/v2', 'https://qianfan.baidubce.com/v2'],
  ['https://spark-api-open.xf-yun.com/v2', 'https://spark-api-open.xf-yun.com/v2'],
  ['https://models.github.ai/inference', 'https://models.github.ai/inference'],
  ['https://models.github.ai/orgs/o/inference', 'https://models.github.ai/orgs/o/inference'],
  ['https://api.githubcopilot.com', 'https://api.githubcopilot.com'],
  ['https://api.perplexity.ai', 'https://api.perplexity.ai'],
  ['https://api.perplexity.ai/v1', 'https://api.perplexity.ai/v1'],
  ['https://api.groq.com/openai/v1', 'https://api.groq.com/openai/v1'],
  ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1'],
  ['https://api.deepseek.com', 'https://api.deepseek.com/v1'],
  ['https://api.deepseek.com/v1', 'https://api.deepseek.com/v1'],
  ['https://api.deepseek.com/beta', 'https://api.deepseek.com/beta'],
  ['https://api.fireworks.ai/inference/v1', 'https://api.fireworks.ai/inference/v1'],
  [
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  ],
  [`${CLOUDFLARE}/openai`, `${CLOUDFLARE}/openai`],
  [`${CLOUDFLARE}/compat`, `${CLOUDFLARE}/compat`],
  [
    'https://api.cloudflare.com/client/v4/accounts/a/ai/v1',
    'https://api.cloudflare.com/client/v4/accounts/a/ai/v1',
  ],
  ['https://api.deepinfra.com/v1/openai', 'https://api.deepinfra.com/v1/openai'],
  ['https://api.mistral.ai/v1', 'https://api.mistral.ai/v1'],
  ['https://api.x.ai/v1', 'https://api.x.ai/v1'],
  ['https://api.moonshot.ai/v1', 'https://api.moonshot.ai/v1'],
  ['https://api.together.xyz/v1', 'https://api.together.xyz/v1'],
  ['https://api.cohere.ai/compatibility/v1', 'https://api.cohere.ai/compatibility/v1'],
  ['https://integrate.api.nvidia.com/v1', 'https://integrate.api.nvidia.com/v1'],
  ['https://router.huggingface.co/v1', 'https://router.huggingface.co/v1'],
  ['https://api.novita.ai/v3/openai', 'https://api.novita.ai/v3/openai'],
  ['https://api.ai21.com/studio/v1', 'https://api.ai21.com/studio/v1'],
  [
    'https://dbc.cloud.databricks.com/serving-endpoints',
    'https://dbc.cloud.databricks.com/serving-endpoints',
  ],
  ['https://name.openai.azure.com/openai/v1/', 'https://name.openai.azure.com/openai/v1'],
  ['https://name.services.ai.azure.com/models', 'https://name.services.ai.azure.com/models'],
  ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/v1'],
  ['http://localhost:12434/engines/llama.cpp/v1', 'http://localhost:12434/engines/llama.cpp/v1'],
];

const CHAT_ENDPOINTS = ['/chat/completions', '/embeddings', '/models', '/responses'];

test('every documented base URL of the chat dialect leads to the documented endpoints', () => {
  for (const [baseUrl, serves] of CHAT)
    for (const endpoint of CHAT_ENDPOINTS)
      assert.is(urlOf('chat', baseUrl, `/v1${endpoint}`), serves + endpoint, baseUrl);
});

test('a full endpoint address works like its base URL, for every endpoint', () => {
  for (const [, serves] of CHAT)
    for (const endpoint of CHAT_ENDPOINTS) {
      // At the root this is the prefix that Azure documents.
      if (endpoint === '/models' && new URL(serves).pathname === '/') continue;
      for (const tail of ['', '/'])
        assert.is(
          urlOf('chat', `${serves}${endpoint}${tail}`, '/v1/chat/completions'),
          `${serves}/chat/completions`,
          serves + endpoint,
        );
    }
});

const MESSAGES: readonly (readonly [baseUrl: string, serves: string])[] = [
  ['https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
  ['https://api.anthropic.com/v1', 'https://api.anthropic.com/v1/messages'],
  ['https://api.anthropic.com/v1/messages', 'https://api.anthropic.com/v1/messages'],
  ['https://api.z.ai/api/anthropic', 'https://api.z.ai/api/anthropic/v1/messages'],
  ['https://api.deepseek.com/anthropic', 'https://api.deepseek.com/anthropic/v1/messages'],
  ['https://api.moonshot.ai/anthropic/', 'https://api.moonshot.ai/anthropic/v1/messages'],
  ['https://openrouter.ai/api', 'https://openrouter.ai/api/v1/messages'],
  ['https://api.fireworks.ai/inference', 'https://api.fireworks.ai/inference/v1/messages'],
  [`${CLOUDFLARE}/anthropic`, `${CLOUDFLARE}/anthropic/v1/messages`],
  [
    'https://name.services.ai.azure.com/anthropic/v1/messages/',
    'https://name.services.ai.azure.com/anthropic/v1/messages',
  ],
  ['https://gate.example/claude/messages', 'https://gate.example/claude/messages'],
];

test('base URLs and full addresses of the messages dialect lead to its endpoints', () => {
  for (const [baseUrl, serves] of MESSAGES) {
    assert.is(urlOf('messages', baseUrl, '/v1/messages?beta=true'), `${serves}?beta=true`, baseUrl);
    assert.is(
      urlOf('messages', baseUrl, '/v1/messages/count_tokens'),
      `${serves}/count_tokens`,
      baseUrl,
    );
    assert.is(shownEndpoint('messages', baseUrl), serves);
  }
});

const CALL = '/models/gemini-3-pro:streamGenerateContent';
const GENERATIVE: readonly (readonly [baseUrl: string, serves: string])[] = [
  ['https://generativelanguage.googleapis.com', 'generativelanguage.googleapis.com/v1beta'],
  ['https://generativelanguage.googleapis.com/v1beta', 'generativelanguage.googleapis.com/v1beta'],
  ['https://generativelanguage.googleapis.com/v1/', 'generativelanguage.googleapis.com/v1'],
  [
    'https://generativelanguage.googleapis.com/v1alpha',
    'generativelanguage.googleapis.com/v1alpha',
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent',
    'generativelanguage.googleapis.com/v1beta',
  ],
  [`${CLOUDFLARE}/google-ai-studio`, `${CLOUDFLARE.slice(8)}/google-ai-studio/v1beta`],
  [
    'https://aiplatform.googleapis.com/v1/publishers/google',
    'aiplatform.googleapis.com/v1/publishers/google',
  ],
  [`${VERTEX}/publishers/google`, `${VERTEX.slice(8)}/publishers/google`],
  [`${VERTEX}/publishers/google${CALL}`, `${VERTEX.slice(8)}/publishers/google`],
];

test('base URLs and full addresses of the generative dialect lead to its endpoints', () => {
  for (const [baseUrl, serves] of GENERATIVE)
    assert.is(
      urlOf('generative', baseUrl, `/v1beta${CALL}?alt=sse`),
      `https://${serves}${CALL}?alt=sse`,
      baseUrl,
    );
  const upload = '/upload/v1beta/files?uploadType=media';
  for (const version of ['', '/v1beta', '/v1'])
    assert.is(
      urlOf('generative', `https://a.example/gate${version}`, upload),
      `https://a.example/gate${upload}`,
    );
});

test('a passthrough and a provider whose code makes the paths get the whole request path', () => {
  const target = '/v1/chat/completions?x=1';
  const open = 'https://a.example/api/paas/v4';
  assert.is(urlOf('passthrough', open, target), open + target);
  assert.is(
    urlOf('passthrough', 'https://a.example/api/v1', target),
    'https://a.example/api' + target,
  );
  assert.is(shownEndpoint('passthrough', open), open);
  const code = toAddress('chat', 'https://a.example/api', true);
  assert.is(upstreamPath(code, target), `/api${target}`);
});

const AZURE = 'https://name.openai.azure.com/openai/deployments/d';

test('parameters of the base URL are sent unless the client sends its own', () => {
  const version = '?api-version=2026-10-01';
  for (const baseUrl of [AZURE + version, `${AZURE}/chat/completions${version}`]) {
    assert.is(
      urlOf('chat', baseUrl, '/v1/chat/completions'),
      `${AZURE}/chat/completions${version}`,
    );
    assert.is(
      urlOf('chat', baseUrl, '/v1/embeddings?a=%20b'),
      `${AZURE}/embeddings?a=%20b&api-version=2026-10-01`,
    );
    assert.is(
      urlOf('chat', baseUrl, '/v1/models?api-version=2027-01-01'),
      `${AZURE}/models?api-version=2027-01-01`,
    );
  }
});

test.run();
