/**
 * Asks two questions over one connection and prints the answers as they arrive:
 *
 *   node client.mjs
 *
 * `SVC_URL` is the proxy's address (`/ws` is on its main port), `API_KEY` your key for the
 * provider; without it the proxy's key is used. Node 22 has a built-in WebSocket; on Node 20 the
 * package `ws` replaces it.
 */
const WebSocket = globalThis.WebSocket ?? (await import('ws')).WebSocket;
const { SVC_URL = 'http://127.0.0.1:8766', API_KEY } = process.env;

const socket = new WebSocket(`${SVC_URL.replace(/^http/, 'ws')}/ws`);
const questions = ['Say hello.', 'Say goodbye.'];

function askNext() {
  const content = questions.shift();
  // The client has to close: the proxy keeps the connection open for the next question.
  if (content === undefined) return socket.close();
  const request = {
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content }],
    ...(API_KEY !== undefined && { api_key: API_KEY }),
  };
  socket.send(JSON.stringify(request));
}

socket.addEventListener('open', askNext);
socket.addEventListener('message', ({ data }) => {
  const event = JSON.parse(String(data));
  if (event.error !== undefined) {
    console.error(event.error.message);
    process.exitCode = 1;
    askNext();
  } else if (event.type === 'content_block_delta') {
    process.stdout.write(event.delta.text ?? '');
  } else if (event.type === 'message_stop') {
    process.stdout.write('\n');
    askNext();
  }
});
socket.addEventListener('error', ({ message }) => {
  console.error(`No connection to ${SVC_URL}: ${message}`);
  process.exitCode = 1;
});
