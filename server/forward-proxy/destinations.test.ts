/**
 * Tunnel destinations: a tunnel connects to the address that was checked, even if the name resolves
 * differently later.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isSvcError } from '../../engine/index.ts';
import { outboundWays } from '../outbound/outbound.ts';
import { isPrivateAddress, openTunnel } from './destinations.ts';
import type { Resolve } from './destinations.ts';

const outbound = outboundWays({ httpsProxy: null, httpProxy: null, noProxy: null });

const kindOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'opened';
  } catch (thrown) {
    return isSvcError(thrown) ? thrown.kind : String(thrown);
  }
};

test('tells addresses of the public internet from private and special ones', () => {
  const open = [
    '1.1.1.1',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '2606:4700::1',
    '64:ff9b::101:101',
  ];
  for (const address of open) assert.not(isPrivateAddress(address), address);
  const closed = [
    '0.1.2.3',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '255.255.255.255',
  ];
  const closed6 = [
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002::1',
    '3fff::1',
    '5f00::1',
    'fe80::1',
    'fec0::1',
    'fdff::1',
    'ff02::1',
    'x',
    '',
  ];
  for (const address of [...closed, ...closed6]) assert.ok(isPrivateAddress(address), address);
});

test('resolves a name once, and refuses it if any of its addresses is private', async () => {
  let lookups = 0;
  const answers = [
    [{ address: '127.0.0.1', family: 4 }],
    [{ address: '93.184.215.14', family: 4 }],
  ];
  const rebinding: Resolve = async () => answers[lookups++ % 2]!;
  const signal = AbortSignal.timeout(120_000);
  const options = { privateHosts: [], outbound, signal };
  const target = { host: 'rebind.test', port: 443 };
  assert.is(await kindOf(openTunnel(target, { ...options, resolve: rebinding })), 'forbidden');
  assert.is(lookups, 1);
  const both: Resolve = async () => [...answers[1]!, ...answers[0]!];
  assert.is(await kindOf(openTunnel(target, { ...options, resolve: both })), 'forbidden');
  const none: Resolve = async () => [];
  assert.is(await kindOf(openTunnel(target, { ...options, resolve: none })), 'bad_gateway');
});

test('connects to the address that was checked, and allows a listed host to be private', async () => {
  const server = createServer((socket) => socket.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  let lookups = 0;
  const resolve: Resolve = async () => {
    lookups += 1;
    return [{ address: '127.0.0.1', family: 4 }];
  };
  const signal = AbortSignal.timeout(120_000);
  const options = { outbound, signal, resolve };
  const target = { host: 'intranet.test', port };
  const listed = { ...options, privateHosts: ['intranet.test'] };
  const socket = await openTunnel(target, listed);
  assert.is(socket.remoteAddress, '127.0.0.1');
  assert.is(lookups, 1);
  socket.destroy();
  assert.is(await kindOf(openTunnel(target, { ...options, privateHosts: [] })), 'forbidden');
  server.close();
});

test.run();
