/** What leads a client past forward mode although it was started with it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { basesPast, hostsPast } from './environment.ts';

const url = 'http://127.0.0.1:8765';
const hosts = ['api.anthropic.com', 'api.openai.com'];

test('a base URL of another host is named without what else it holds', () => {
  const env = {
    ANTHROPIC_BASE_URL: 'https://user:secret@gateway.example:8443/anthropic?key=secret',
    OPENAI_BASE_URL: 'https://api.openai.com/v1',
    OPENAI_API_BASE: `${url}/v1`,
    GOOGLE_GEMINI_BASE_URL: 'no address',
  };
  assert.equal(basesPast(env, url, hosts), [
    { name: 'ANTHROPIC_BASE_URL', host: 'gateway.example:8443' },
  ]);
  assert.equal(basesPast({}, url, hosts), []);
});

test("hosts that the user's NO_PROXY names are known", () => {
  assert.equal(hostsPast({ NO_PROXY: 'localhost,.openai.com' }, hosts), ['api.openai.com']);
  assert.equal(hostsPast({ NO_PROXY: 'localhost' }, hosts), []);
});

test.run();
