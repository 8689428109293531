/**
 * The parts of undici that send requests, taken one by one: its index also loads fetch, caches,
 * mocks and WebSocket, which made the start 80 ms longer and the process 9 MB larger. The version
 * is pinned, and every test that sends a request would notice a path that has moved.
 */
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
export { default as errors } from 'undici/lib/core/errors.js';
import type { buildConnector as builder } from 'undici';

export type { Dispatcher } from 'undici';
export type Connector = builder.connector;
