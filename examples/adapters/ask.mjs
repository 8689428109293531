/**
 * Asks a model and prints its answer as it arrives, then the tokens used:
 *
 *   node ask.mjs "Why is the sky blue?"
 *   MODEL=gpt-4o node ask.mjs "Why is the sky blue?"
 *
 * `SVC_URL` is the proxy's address, `API_KEY` your key for the provider, or a proxy key if the
 * proxy has the provider's.
 */
import { MultiProviderAdapter, SvcAdapterError } from 'svc/client';

const { SVC_URL = 'http://127.0.0.1:8766', API_KEY, MODEL = 'claude-sonnet-4-5' } = process.env;
const messages = [{ role: 'user', content: process.argv[2] ?? 'Say hello.' }];

try {
  const adapter = new MultiProviderAdapter({ baseUrl: SVC_URL, apiKey: API_KEY });
  for await (const event of adapter.stream({ model: MODEL, max_tokens: 500, messages })) {
    // A piece of text, in the format of the messages API or of the chat API.
    const piece = event.delta?.text ?? event.choices?.[0]?.delta?.content ?? '';
    process.stdout.write(piece);
  }
  process.stdout.write('\n');
} catch (error) {
  if (!(error instanceof SvcAdapterError)) throw error;
  console.error(`${error.statusCode ?? 'no answer'}: ${error.message}`);
  process.exitCode = 1;
}
