import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEY, OWN_PATHS, gateWith, outcome, request } from '../../fixtures/server/gate.ts';

const OUR_HOSTS = [
  'localhost:8766',
  'localhost:8767',
  'localhost',
  'LOCALHOST:8766',
  'LocalHost:8767',
  '127.0.0.1:8766',
  '127.0.0.1',
  '127.0.0.2:8766',
  '127.255.255.254:8766',
  '127.1.2.3',
  '[::1]:8766',
  '[::1]',
  '[0:0:0:0:0:0:0:1]:8766',
  '[::ffff:127.0.0.1]:8766',
  '[::FFFF:7f00:1]:8766',
  '[0000:0000:0000:0000:0000:0000:0000:0001]:8767',
  // Through an SSH tunnel or a container's port mapping the port differs.
  'localhost:80',
  'localhost:8768',
  '127.0.0.1:1',
  '[::1]:8080',
];
const FOREIGN_HOSTS = [
  'evil.example',
  'evil.example:8766',
  'localhost.evil.example:8766',
  'localhost.:8766',
  'evil.localhost:8766',
  '127.0.0.1.nip.io:8766',
  '127.1:8766',
  '0177.0.0.1:8766',
  '0x7f.0.0.1:8766',
  '2130706433',
  '0.0.0.0:8766',
  '0:8766',
  '[::]:8766',
  '10.0.0.1:8766',
  '192.168.1.5:8766',
  '[::ffff:10.0.0.1]:8766',
  '[::127.0.0.1]:8766',
  '[fe80::1]:8766',
  '[64:ff9b::7f00:1]:8766',
  '169.254.169.254',
  'metadata.google.internal',
  'a',
  '-',
  '.',
  '..',
  '_',
  '127.0.0.256:8766',
];
const MALFORMED_HOSTS = [
  '',
  ' ',
  'localhost:',
  'localhost:port',
  'localhost:123456',
  'localhost:0',
  'localhost:70000',
  'localhost:-1',
  'localhost:8766:8766',
  'localhost 8766',
  'localhost, evil.example',
  '::1',
  '[::1',
  '::1]:8766',
  '[::1]8766',
  '[]:8766',
  '[localhost]:8766',
  '[::1%25lo]:8766',
  '[1::2::3]',
  'user@localhost:8766',
  'user:pw@localhost',
  'http://localhost:8766',
  'localhost/',
  'localhost#',
  'localhost?x',
  'localhost\\evil',
  'localhost%2eevil',
  'lοcalhost:8766',
  'localhost\t',
  ':8766',
  'x'.repeat(254),
];

test('accepts only our own Host names, in at least sixty forms and on every kind of path', () => {
  assert.ok(OUR_HOSTS.length + FOREIGN_HOSTS.length + MALFORMED_HOSTS.length >= 60);
  const gate = gateWith();
  for (const path of OWN_PATHS) {
    for (const host of OUR_HOSTS) assert.is(outcome(gate(request({ path, host }))), 'local', host);
    for (const host of FOREIGN_HOSTS)
      assert.is(outcome(gate(request({ path, host }))), '403', host);
    for (const host of MALFORMED_HOSTS) {
      assert.is(outcome(gate(request({ path, host }))), '400', JSON.stringify(host));
    }
  }
});

test('refuses a foreign Host even with a key, on upgrades and for OPTIONS', () => {
  const gate = gateWith();
  const headers = ['X-Svc-Key', KEY];
  assert.is(outcome(gate(request({ host: 'evil.example', headers }))), '403');
  assert.is(outcome(gate(request({ host: 'evil.example', headers, peer: '10.0.0.9' }))), '403');
  assert.is(outcome(gate(request({ host: 'evil.example', method: 'OPTIONS' }))), '403');
  assert.is(outcome(gate(request({ host: 'evil.example', path: '/ws' }), 'upgrade')), '403');
});

test('a missing Host and two Hosts are malformed', () => {
  const gate = gateWith();
  const twice = request({ headers: ['hOsT', 'localhost:8766'] });
  assert.is(outcome(gate(twice)), '400');
  assert.is(outcome(gate({ ...twice, rawHeaders: [] })), '400');
});

test('allowed_hosts: a name allows every port, a name with a port only that one', () => {
  const gate = gateWith({
    allowedHosts: ['Proxy.lan', 'tunnel.example:443', '::1'],
  });
  assert.is(outcome(gate(request({ host: 'proxy.lan:9000' }))), 'local');
  assert.is(outcome(gate(request({ host: 'PROXY.LAN' }))), 'local');
  assert.is(outcome(gate(request({ host: 'tunnel.example:443' }))), 'local');
  assert.is(outcome(gate(request({ host: 'tunnel.example:80' }))), '403');
  assert.is(outcome(gate(request({ host: 'tunnel.example' }))), '403');
  assert.is(outcome(gate(request({ host: '[0:0:0:0:0:0:0:1]:9999' }))), 'local');
  assert.throws(() => gateWith({ allowedHosts: ['http://proxy.lan'] }), /allowed_hosts/);
  assert.throws(() => gateWith({ allowedHosts: ['*'] }), /allowed_hosts/);
});

test('the bound address is one of our names, or the local address if bound to a wildcard', () => {
  const bound = gateWith({ boundHost: '192.168.1.5' });
  const remote = { peer: '192.168.1.9', headers: ['X-Svc-Key', KEY] };
  assert.is(outcome(bound(request({ ...remote, host: '192.168.1.5:8766' }))), 'keyed');
  assert.is(outcome(bound(request({ ...remote, host: '192.168.1.6:8766' }))), '403');
  for (const boundHost of ['0.0.0.0', '::']) {
    const wild = gateWith({ boundHost });
    const dialled = { ...remote, local: '::ffff:192.168.1.5' };
    assert.is(outcome(wild(request({ ...dialled, host: '192.168.1.5:8766' }))), 'keyed');
    assert.is(outcome(wild(request({ ...dialled, host: '192.168.1.6:8766' }))), '403');
    assert.is(outcome(wild(request({ ...dialled, host: '0.0.0.0:8766' }))), '403');
    assert.is(outcome(wild(request({ ...dialled, host: '[::]:8766' }))), '403');
  }
});

const LOOPBACK_PEERS = [
  '127.0.0.1',
  '127.0.0.2',
  '127.1.1.1',
  '127.255.255.255',
  '127.0.0.0',
  '::1',
  '::ffff:127.0.0.1',
  '::FFFF:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:7fff:ffff',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  '0:0:0:0:0:ffff:127.0.0.1',
  '0:0:0:0:0:ffff:7f00:0001',
  '::0:1',
  '::ffff:127.200.3.4',
];
const REMOTE_PEERS = [
  '10.0.0.1',
  '192.168.1.1',
  '172.17.0.1',
  '8.8.8.8',
  '0.0.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.254.0.1',
  '255.255.255.255',
  '::',
  '::2',
  'fe80::1',
  '2001:db8::1',
  'fc00::1',
  '::ffff:10.0.0.1',
  '::ffff:128.0.0.1',
  '::ffff:0:127.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '127.1',
  '0177.0.0.1',
  '0x7f000001',
  '2130706433',
  'localhost',
  '127.0.0.1 ',
  '[::1]',
  '127.0.0.1:8766',
  '',
  'unix',
];

test('recognises forty spellings of loopback and remote peers', () => {
  assert.ok(LOOPBACK_PEERS.length + REMOTE_PEERS.length >= 40);
  const gate = gateWith();
  for (const peer of LOOPBACK_PEERS) assert.is(outcome(gate(request({ peer }))), 'local', peer);
  for (const peer of REMOTE_PEERS) {
    assert.is(outcome(gate(request({ peer }))), '401 AUTH_001', peer);
  }
  assert.is(outcome(gate(request({ peer: undefined }))), '401 AUTH_001');
});

test('the ports are read for each request, since they are known only after listening', () => {
  let port = 0;
  const gate = gateWith({ ports: () => [port] });
  const page = { headers: ['Origin', 'http://127.0.0.1:8766'] };
  assert.is(outcome(gate(request(page))), '401 AUTH_001');
  port = 8766;
  assert.is(outcome(gate(request(page))), 'local');
  port = 9000;
  assert.is(outcome(gate(request(page))), '401 AUTH_001');
  assert.is(outcome(gate(request({ headers: ['Origin', 'http://127.0.0.1:9000'] }))), 'local');
});

test.run();
