/**
 * The names used from OpenTelemetry's semantic conventions: generative AI (in development), HTTP
 * and errors (stable), release 1.37. Copied, since their package is not needed for anything else;
 * `svc.*` are our own.
 */

export const OPERATION = 'gen_ai.operation.name';
export const PROVIDER = 'gen_ai.provider.name';
export const REQUEST_MODEL = 'gen_ai.request.model';
export const RESPONSE_MODEL = 'gen_ai.response.model';
export const CONVERSATION = 'gen_ai.conversation.id';
export const INPUT_TOKENS = 'gen_ai.usage.input_tokens';
export const OUTPUT_TOKENS = 'gen_ai.usage.output_tokens';
export const TOKEN_TYPE = 'gen_ai.token.type';
export const ERROR_TYPE = 'error.type';
export const STATUS_CODE = 'http.response.status_code';
export const URL_PATH = 'url.path';

export const TOKEN_USAGE_METRIC = 'gen_ai.client.token.usage';
export const DURATION_METRIC = 'gen_ai.client.operation.duration';
export const SAVED_METRIC = 'svc.tokens.saved';

/** Histogram bounds recommended by the conventions. */
export const TOKEN_BOUNDS = Array.from({ length: 14 }, (_, power) => 4 ** power);
export const DURATION_BOUNDS_S = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);

/** Returns `gen_ai.operation.name` for a provider's path. */
export function operationOf(endpoint: string): string {
  if (endpoint.includes('embed')) return 'embeddings';
  return /generateContent/i.test(endpoint) ? 'generate_content' : 'chat';
}

const PROVIDERS: Readonly<Record<string, string>> = {
  messages: 'anthropic',
  chat: 'openai',
  generative: 'gcp.gen_ai',
};

/** Returns the well-known value for a built-in provider, the configured name for any other. */
export function providerOf(name: string): string {
  return PROVIDERS[name] ?? name;
}
