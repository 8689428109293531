/** The workloads under which the proxies are compared. */

import type { Conversation } from './load.ts';

/** One workload; every arm gets the same bytes. */
export interface Workload {
  readonly name: string;
  /** Description for the report. */
  readonly about: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Placeholder in the body that is replaced by each request's number, at the same length. */
  readonly serial?: string;
  /** The requests are the turns of conversations; a slice sends all of them, however long it takes. */
  readonly conversation?: Conversation;
  /** Turns sent before, without being measured. */
  readonly warmCuts?: readonly number[];
  readonly connections: number;
  /** Requests started per second; absent: as fast as the connections respond. */
  readonly rate?: number;
  /** Events per response; 0 if it is not a stream. */
  readonly events: number;
  /** Additional bytes of a response through svc, because svc adds options to the request. */
  readonly addedBytes?: number;
  /** Relative length of a measured slice; default 1. */
  readonly length?: number;
}

/** Header that selects the fake upstream's scenario. */
const SCENARIO = 'x-upstream-scenario';

const JSON_BODY_BYTES = 1024;
const LARGE_BODY_BYTES = 400 * 1024;
const SSE_EVENTS = 200;
const SLOW_EVENTS = 20;
/**
 * Events of a messages stream besides its text: start and stop of message and block, usage, a ping.
 */
const MESSAGE_ENVELOPE_EVENTS = 6;
/** Events of a chat stream besides its text: role, end, `[DONE]`. */
const CHAT_ENVELOPE_EVENTS = 3;
/** svc requests usage in a chat stream, which adds this to every event but `[DONE]`. */
const NO_USAGE = '"usage":null,';

const HEADERS = {
  'x-api-key': 'bench-key',
  'anthropic-version': '2023-06-01',
  'User-Agent': 'svc-bench',
  Accept: 'application/json',
};

const CHAT_HEADERS = {
  Authorization: 'Bearer bench-key',
  'User-Agent': 'svc-bench',
  Accept: 'application/json',
};

/** Every workload, in execution order. */
export const workloads: readonly Workload[] = [
  {
    name: 'json',
    about: 'POST 1 KB, answer 1.5 KB, 16 connections as fast as they go',
    path: '/v1/messages',
    headers: { ...HEADERS, [SCENARIO]: 'sized bytes=1200' },
    body: bodyOf(JSON_BODY_BYTES, false),
    connections: 16,
    events: 0,
  },
  {
    name: 'json-chat',
    about: '`json` in the chat dialect',
    path: '/v1/chat/completions',
    headers: { ...CHAT_HEADERS, [SCENARIO]: 'sized bytes=1200' },
    body: chatBodyOf(JSON_BODY_BYTES, false),
    connections: 16,
    events: 0,
  },
  {
    name: 'json-paced',
    about: '`json` over 16 connections, 1,000 a second: latency without a queue',
    path: '/v1/messages',
    headers: { ...HEADERS, [SCENARIO]: 'sized bytes=1200' },
    body: bodyOf(JSON_BODY_BYTES, false),
    connections: 16,
    rate: 1000,
    events: 0,
  },
  {
    name: 'sse-burst',
    about: `streams of ${SSE_EVENTS} events sent at once, 16 connections as fast as they go`,
    path: '/v1/messages',
    headers: { ...HEADERS, [SCENARIO]: `burst count=${SSE_EVENTS}` },
    body: bodyOf(JSON_BODY_BYTES, true),
    connections: 16,
    events: SSE_EVENTS + MESSAGE_ENVELOPE_EVENTS,
  },
  {
    name: 'sse-burst-chat',
    about: '`sse-burst` in the chat dialect, without the usage that svc asks for',
    path: '/v1/chat/completions',
    headers: { ...CHAT_HEADERS, [SCENARIO]: `burst count=${SSE_EVENTS}` },
    body: chatBodyOf(JSON_BODY_BYTES, true),
    connections: 16,
    events: SSE_EVENTS + CHAT_ENVELOPE_EVENTS,
    addedBytes: NO_USAGE.length * (SSE_EVENTS + CHAT_ENVELOPE_EVENTS - 1),
  },
  {
    name: 'sse-spaced',
    about: `streams of ${SSE_EVENTS} events 5 ms apart, 24 at a time`,
    path: '/v1/messages',
    headers: { ...HEADERS, [SCENARIO]: `events count=${SSE_EVENTS} everyMs=5` },
    body: bodyOf(JSON_BODY_BYTES, true),
    connections: 48,
    rate: 23,
    events: SSE_EVENTS + MESSAGE_ENVELOPE_EVENTS,
    length: 2,
  },
  {
    name: 'large-body',
    about: 'POST 400 KB, answer 1.5 KB, 4 connections as fast as they go',
    path: '/v1/messages',
    headers: { ...HEADERS, [SCENARIO]: 'sized bytes=1200' },
    body: bodyOf(LARGE_BODY_BYTES, false),
    connections: 4,
    events: 0,
  },
  {
    name: 'slow-streams',
    about: `streams of ${SLOW_EVENTS} events 100 ms apart, 200 at a time`,
    path: '/v1/messages',
    headers: { ...HEADERS, [SCENARIO]: `events count=${SLOW_EVENTS} everyMs=100` },
    body: bodyOf(JSON_BODY_BYTES, true),
    connections: 400,
    rate: 80,
    events: SLOW_EVENTS + MESSAGE_ENVELOPE_EVENTS,
    length: 2,
  },
];

/** Throws a RangeError if there is no such workload. */
export function workloadNamed(name: string): Workload {
  const found = workloads.find((workload) => workload.name === name);
  if (found === undefined) throw new RangeError(`there is no workload "${name}"`);
  return found;
}

/** Returns a request of `bytes` length in which a user pasted log lines. */
function bodyOf(bytes: number, stream: boolean): string {
  return filled(bytes, (text) => ({
    model: 'claude-sonnet-4-5',
    max_tokens: 1024,
    stream,
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  }));
}

function chatBodyOf(bytes: number, stream: boolean): string {
  return filled(bytes, (content) => ({
    model: 'gpt-5-mini',
    max_completion_tokens: 1024,
    stream,
    messages: [{ role: 'user', content }],
  }));
}

function filled(bytes: number, bodyWith: (text: string) => object): string {
  const make = (text: string): string => JSON.stringify(bodyWith(text));
  const frame = make('').length;
  const line = (index: number): string =>
    `${index} src/part-${index % 97}.ts: checked in ${index % 13} ms; `;
  let text = '';
  for (let index = 0; text.length < bytes - frame; index += 1) text += line(index);
  return make(text.slice(0, bytes - frame));
}
