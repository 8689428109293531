/**
 * Asks a model and prints its answer as it comes, then what it took:
 *
 *   node ask.mjs "Why is the sky blue?"
 *   MODEL=gpt-4o node ask.mjs "Why is the sky blue?"
 *
 * `SVC_URL` is the proxy's address, `API_KEY` your key of the provider, or a key of the proxy that has one itself.
 */
import { MultiProviderAdapter, SvcAdapterError } from 'svc/client';

const { SVC_URL = 'http://127.0.0.1:8766', API_KEY, MODEL = 'claude-sonnet-4-5' } = process.env;
const messages = [{ role: 'user', content: process.argv[2] ?? 'Say hello.' }];

try {
  const adapter = new MultiProviderAdapter({ baseUrl: SVC_URL, apiKey: API_KEY });
  for await (const event of adapter.stream({ model: MODEL, max_tokens: 500, messages })) {
    // A piece of text, as the messages API and as the chat API send it.
    const piece = event.delta?.text ?? event.choices?.[0]?.delta?.content ?? '';
    process.stdout.write(piece);
  }
  process.stdout.write('\n');
} catch (error) {
  if (!(error instanceof SvcAdapterError)) throw error;
  console.error(`${error.statusCode ?? 'no answer'}: ${error.message}`);
  process.exitCode = 1;
}
