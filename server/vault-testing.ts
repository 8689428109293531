/** For the tests of what goes upstream with a vault: a proxy whose vault is indexed, and what the provider received. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { systemClock } from '../engine/index.ts';
import { startTestProxy } from '../fixtures/proxy.ts';
import type { ProxyOptions, TestProxy } from '../fixtures/proxy.ts';
import { indexFolder } from '../stages/vault/index.ts';
import { exchange } from './testing.ts';
import type { Answered } from './testing.ts';

/** Files of which each says something about one word that nobody else uses. */
export const FILES: Readonly<Record<string, string>> = {
  'gate.md': '# The gate\n\nThe flumbrick gate opens when the quorble lever is pulled twice.\n',
  'store.md': '# The store\n\nThe wibbledon store keeps every snarfle for ninety days.\n',
  'lamp.md': '# The lamp\n\nThe zandrel lamp burns brightest beside a cold mirrow.\n',
};

/** A word that no question uses. */
export const ABSENT = 'nothing here is about that: xyzzyqq';

/** A proxy with files and an index, both in a folder that outlives the proxy. */
export interface VaultPlace {
  readonly folder: string;
  /** The folder with the files. */
  readonly files: string;
  readonly env: Readonly<Record<string, string>>;
  write(files: Readonly<Record<string, string>>): void;
  /** Brings the index up to date with the files, or with `root`, as `svc index` does beside a proxy. */
  index(root?: string): Promise<void>;
  /** Indexes the files, starts a proxy on them, and waits until it has loaded the index. */
  startIndexed(options?: ProxyOptions): Promise<TestProxy>;
  /** Starts a proxy on it; state that must survive a restart is kept in the place's home. */
  start(options?: ProxyOptions): Promise<TestProxy>;
  dispose(): void;
}

/** Makes a place with `files` in it. Nothing is indexed yet. */
export function makeVaultPlace(files: Readonly<Record<string, string>> = FILES): VaultPlace {
  const folder = mkdtempSync(join(tmpdir(), 'svc-vault-wire-'));
  const place: VaultPlace = {
    folder,
    files: join(folder, 'files'),
    env: {
      SVC_HOME: join(folder, 'home'),
      SVC_VAULT_INDEX: join(folder, 'index'),
      SVC_COMPACT_THRESHOLD_TOKENS: '1',
    },
    write(more) {
      for (const [name, text] of Object.entries(more)) {
        const path = join(place.files, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
      }
    },
    async index(root = place.files) {
      await indexFolder({
        root,
        indexDir: join(folder, 'index'),
        clock: systemClock,
        newId: randomUUID,
        workers: 1,
        parseCode: false,
      });
    },
    start: (options = {}) => startTestProxy({ ...options, env: { ...place.env, ...options.env } }),
    async startIndexed(options) {
      await place.index();
      const test = await place.start(options);
      await test.proxy.services.vault.status();
      return test;
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
  mkdirSync(place.files);
  place.write(files);
  return place;
}

/** A proxy over an index of `files`, closed and removed afterwards. */
export async function withVault(
  use: (test: TestProxy, place: VaultPlace) => Promise<void>,
  options: ProxyOptions & { readonly files?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const place = makeVaultPlace(options.files);
  const test = await place.startIndexed(options);
  try {
    await use(test, place);
  } finally {
    await test.close();
    place.dispose();
  }
}

/** Sends `body` to `path`, and returns what the provider received of it. */
export async function sent(
  { proxy, upstream }: TestProxy,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const before = upstream.requests.length;
  const answer: Answered = await exchange(proxy.port, {
    path,
    headers,
    body: JSON.stringify(body),
  });
  assert.is(answer.status, 200, answer.text);
  const received = upstream.requests[before];
  assert.ok(received?.complete);
  return received.body.toString();
}

/** The three dialects that are rewritten: how each writes a request, and where it keeps the user's texts. */
export const DIALECTS = [
  {
    name: 'messages',
    path: '/v1/messages',
    body: (messages: readonly object[]) => ({
      model: 'claude-fixture-1',
      max_tokens: 100,
      system: 'You are short.',
      tools: [{ name: 'read', description: 'Reads a file', input_schema: { type: 'object' } }],
      messages,
    }),
    user: (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }),
    assistant: (text: string) => ({ role: 'assistant', content: text }),
    call: (id: string) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
    ],
    result: (id: string, content: string) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content }],
    }),
    list: 'messages',
  },
  {
    name: 'chat',
    path: '/v1/chat/completions',
    body: (messages: readonly object[]) => ({
      model: 'gpt-fixture-1',
      tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }],
      messages: [{ role: 'system', content: 'You are short.' }, ...messages],
    }),
    user: (text: string) => ({ role: 'user', content: text }),
    assistant: (text: string) => ({ role: 'assistant', content: text }),
    call: (id: string) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{}' } }],
      },
    ],
    result: (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content }),
    list: 'messages',
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: (input: readonly object[]) => ({
      model: 'gpt-fixture-1',
      instructions: 'You are short.',
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object' } }],
      input,
    }),
    user: (text: string) => ({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text }],
    }),
    assistant: (text: string) => ({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text }],
    }),
    call: (id: string) => [{ type: 'function_call', call_id: id, name: 'read', arguments: '{}' }],
    result: (id: string, output: string) => ({ type: 'function_call_output', call_id: id, output }),
    list: 'input',
  },
] as const;
