/**
 * About fifty secrets, one in every place that may have one, with all features on: afterwards none
 * is found in any file, response, output or foreign request, in any encoding, except in the places
 * listed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import type { Find } from '../../fixtures/canaries/canaries.ts';
import { canaries, CLIENT, CONFIGURED } from '../../fixtures/canaries/planted.ts';
import { answersWith, requestsWithSecrets } from '../../fixtures/canaries/requests.ts';
import { openWorld } from '../../fixtures/canaries/world.ts';
import type { World } from '../../fixtures/canaries/world.ts';
import { run } from '../../fixtures/cli/run.ts';
import { call, withMcp } from '../../fixtures/cli/mcp-client.ts';
import { closeClients, exchange, openResponse } from '../../fixtures/server/exchange.ts';
import type { Sent } from '../../fixtures/server/exchange.ts';
import { ownOperations } from '../../server/openapi/own-operations.ts';

/** The places where each secret may be. */
const ALLOWED_PLACES: readonly (readonly [canary: RegExp, artefact: RegExp])[] = [
  [
    /^(?:providers\..*|security\.api_key|shared\.redis_url|outbound\..*|alerts\..*)$/,
    /^file home\/config\.yaml$/,
  ],
  [/^providers\.generative\.api_key$/, /^file \.env$/],
  [/^providers\.messages\./, /^provider messages$/],
  [/^providers\.chat\./, /^provider chat$/],
  [/^providers\.generative\./, /^provider generative$/],
  [/^providers\.office\./, /^provider office$/],
  [/^custom_providers auth$/, /^provider acme$/],
  [/^alerts\.notify\.webhook$/, /^webhook$/],
  [/^fleet\.yaml key$/, /^file home\/fleet\.yaml$/],
  // The index is a private copy of the files; nothing in it that looks like a key is ever sent.
  [/^a key in an indexed file$/, /^file (?:notes|home\/\.index)\//],
  [/^a (?:key|cookie) in an imported HAR$/, /^file session\.har$/],
  // A client's key goes to its own provider, and that one's reply about the key goes back to the
  // client.
  [/^client (?:x-api-key|subscription)/, /^provider messages$/],
  [/^client authorization$/, /^provider chat$/],
  [/^client (?:x-goog-api-key|\?key=)$/, /^provider generative$/],
  [
    /^client /,
    /^answer to the client: own|^answer to the client: (?:subscription|in the query|passed through)/,
  ],
  // A model knows no keys, so successful responses are not redacted.
  [/^providers\./, /^answer to the client: .*, a success$/],
  [/^provider set-cookie$/, /^answer to the client/],
  // Input for the provider's tools is a part of the request, even at a fallback.
  [/^(?:aws session token|mcp_servers authorization_token)$/, /^provider messages$/],
  [/^gateway /, /^provider messages$/],
  [/^client basic$/, /^provider messages$/],
  [
    /^(?:mcp_servers|tools mcp|address with|arguments of a tool|client refresh_token)/,
    /^provider (?:messages|chat|office)$/,
  ],
];

const COMMANDS = [
  'status', 'version', 'logs --lines 100000', 'check-alerts', 'check-alerts --test', 'audit list', 'audit export',
  'audit summary', 'doctor', 'replay list', 'learn status', 'provider-status', 'list-models', 'why', 'limits',
  'fleet status', 'fleet list', 'spend status', 'savings', 'cache-stats', 'stats', 'models', 'usage', 'compare',
  'report', 'attribution', 'timeline', 'cost', 'cost-breakdown', 'export', 'aggregate', 'requests', 'config show',
  'config validate', 'auth list', 'ca show', 'route list', 'plugin list', 'graph', 'diff', 'certify',
].map((line) => line.split(' ')); // prettier-ignore

let world: World;

test.before(async () => {
  world = await openWorld();
});
test.after(async () => {
  closeClients();
  await world.close();
});

async function send(sent: Sent, what: string): Promise<void> {
  const { status, rawHeaders, text } = await exchange(world.port, sent);
  const name = `answer to the client: ${what}${status < 400 ? ', a success' : ''}`;
  world.note(name, [status, ...rawHeaders, text].join('\n'));
}

/** Sends each request as it is, and then with each response of a careless provider. */
async function sendRequests(svcKey: string): Promise<void> {
  const all = requestsWithSecrets(svcKey);
  for (const sent of all) await send(sent, sent.what);
  for (const { given, what, ...sent } of all) {
    if (given === undefined) continue;
    const [provider, key] = given;
    for (const raw of answersWith(key)) {
      const forget = world.upstreams[provider].script(undefined, 'raw', { raw, times: 1 });
      await send(sent, what);
      forget();
    }
  }
  const socket = new WebSocket(`ws://127.0.0.1:${world.port}/v1/realtime?model=gpt-realtime`, [
    'realtime',
    `openai-insecure-api-key.${CLIENT.socket}`,
  ]);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve).once('open', () => socket.close()));
}

/** Runs the setup commands, including secrets on stdin and in files. */
async function runSetupCommands(): Promise<string> {
  const made = await run(world.place, ['auth', '--generate', '--label', 'anna']);
  const svcKey = made.stdout.trim();
  canaries.adopt('a generated svc key', svcKey);
  await world.svc('ca', 'create');
  await world.svc('fleet', 'init', '--node', 'desk');
  await world.svc('fleet', 'add', 'cellar', 'http://127.0.0.1:1', '--key-env', 'ATTIC_KEY');
  const stdin = new PassThrough();
  stdin.end(`${CONFIGURED.fleet}\n`);
  const added = await run(
    world.place,
    ['fleet', 'add', 'attic', 'http://127.0.0.1:1', '--key-stdin'],
    { stdin },
  );
  assert.is(added.code, 0, added.stderr);
  world.note('svc fleet add', added.stdout + added.stderr);
  await world.svc(
    'config',
    'pull',
    `https://svc:${CONFIGURED.git}@127.0.0.1:1/team.git`,
    '--path',
    'c.yaml',
  );
  const db = `postgres://svc:${encodeURIComponent(CONFIGURED.postgres)}@127.0.0.1:1/svc`;
  for (const argv of [['stats'], ['doctor'], ['config', 'show'], ['serve']]) {
    const ran = await run(world.place, argv, { env: { ...world.place.env, SVC_DB: db } });
    world.note(`svc ${argv.join(' ')}, without its database`, ran.stdout + ran.stderr);
  }
  return svcKey;
}

/** Returns a folder to be indexed, with a key in one of its files. */
function notesFolder(): string {
  const folder = join(world.place.folder, 'notes');
  mkdirSync(folder);
  write('notes/deploy.md', `# Deploy\n\nSay hello to the server with ${CONFIGURED.vault}.\n`);
  return folder;
}

function write(name: string, text: string): string {
  const path = join(world.place.folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** Returns a session saved by a browser. */
function har(): string {
  const header = (name: string, value: string) => ({ name, value });
  const request = {
    method: 'POST',
    url: 'https://api.example/v1/messages',
    headers: [header('x-api-key', CONFIGURED.har), header('cookie', `s=${CONFIGURED.harCookie}`)],
    postData: {
      text: '{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}',
    },
  };
  const content = {
    text: `{"error":{"message":"no such key: ${CONFIGURED.har}"}}`,
    mimeType: 'application/json',
  };
  const response = { status: 401, headers: [header('content-type', 'application/json')], content };
  return JSON.stringify({
    log: { entries: [{ request, response, startedDateTime: '2026-01-01T00:00:00Z' }] },
  });
}

/** Runs everything that shows something. */
async function runShowingCommands(): Promise<void> {
  for (const argv of COMMANDS) {
    await world.svc(...argv);
    await world.svc(...argv, '--json');
  }
  await world.svc('report', '--month', new Date().toISOString().slice(0, 7), '--html');
  await world.svc('export', '--csv');
  const list = await world.svc('replay', 'list', '--json');
  const ids = [...new Set(list.stdout.match(/\breq_\w+/g))];
  assert.ok(ids.length > 50, 'requests were captured');
  for (const id of ids.slice(0, 40)) await world.svc('replay', 'show', id);
  for (const { method, path } of ownOperations) {
    if (method !== 'get' || /:(?!id)/.test(path)) continue;
    for (const id of path.includes(':id') ? ids : ['']) await get(path.replace(/:id\*?/, id));
  }
  await withMcp(world.place, async (client) => {
    for (const { name } of (await client.listTools()).tools) {
      const params = { query: 'hello', id: ids[0], block: 'b1', request: ids[0] };
      const response = await call(client, name, params).catch(String);
      world.note(`mcp ${name}`, JSON.stringify(response));
    }
  });
}

/** Fetches a response of svc itself; of an endless one only the beginning. */
async function get(path: string): Promise<void> {
  const controller = new AbortController();
  const response = await openResponse(world.port, {
    method: 'GET',
    path,
    signal: controller.signal,
  });
  const pieces: Buffer[] = [];
  const isEndless = /event-stream/.test(response.headers['content-type'] ?? '');
  try {
    for await (const piece of response) {
      pieces.push(piece as Buffer);
      if (isEndless) break;
    }
  } catch {
    // The client cut it off.
  }
  controller.abort();
  world.note(`GET ${path}`, Buffer.concat(pieces).toString('latin1'));
}

test('no secret is stored or shown where it does not belong', async () => {
  const svcKey = await runSetupCommands();
  await world.svc('index', notesFolder());
  await world.svc('replay', 'import', write('session.har', har()));
  await sendRequests(svcKey);
  await world.svc('check-alerts', '--test');
  await runShowingCommands();
  const artefacts = await world.artefacts();
  const finds = artefacts.flatMap((artefact) => canaries.search(artefact));
  const belongs = ({ canary, artefact }: Find): boolean =>
    ALLOWED_PLACES.some(([which, where]) => which.test(canary) && where.test(artefact));
  const leaks = finds.filter((find) => !belongs(find));
  assert.ok(canaries.size >= 50, `${canaries.size} secrets`);
  assert.ok(finds.length > leaks.length, 'the search finds those that are in their places');
  const words = new Set(
    leaks.map(
      ({ canary, artefact, form, around }) =>
        `${canary} in ${artefact} (${form}): ${JSON.stringify(around)}`,
    ),
  );
  assert.equal([...words].slice(0, 20), []);
  process.stdout.write(
    `${canaries.size} secrets, ${artefacts.length} places searched, each found where it belongs alone\n`,
  );
});

test.run();
