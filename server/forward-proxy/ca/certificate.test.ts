/** The local CA vouches for the intercepted hosts and for nothing else, as TLS verifiers see it. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  LEAF_DAYS,
  createAuthority,
  createKey,
  createLeaf,
  permittedHosts,
} from './certificate.ts';
import { forwardFiles, makeAuthority, readAuthority, removeAuthority } from './files.ts';
import { HOSTS, OTHERS } from '../../../fixtures/authority-hosts.ts';

const REFUSED = [...OTHERS, 'api.anthropic.com.', 'localhost'];

const authority = await createAuthority(HOSTS, Date.now());
const leafKey = await createKey();
const key = leafKey.export({ type: 'pkcs8', format: 'pem' });

/** Returns Node's error for a leaf certificate for `host`, or 'trusted' if Node accepts it. */
async function verdictOfNode(host: string): Promise<string> {
  const cert = createLeaf(host, authority, leafKey, Date.now());
  const server = createServer({ key, cert });
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const ca = authority.certificatePem;
  const socket = connect({ port, host: '127.0.0.1', servername: host, ca });
  const verdict = await new Promise<string>((resolve) => {
    socket.once('secureConnect', () => resolve('trusted'));
    socket.once('error', (error: Error) => resolve(error.message));
  });
  socket.destroy();
  server.close();
  return verdict;
}

test('Node trusts the authority only for the intercepted hosts', async () => {
  for (const host of HOSTS) assert.is(await verdictOfNode(host), 'trusted', host);
  for (const host of REFUSED) assert.not.equal(await verdictOfNode(host), 'trusted', host);
  assert.is(await verdictOfNode('example.com'), 'permitted subtree violation');
});

test('OpenSSL trusts the authority only for the intercepted hosts, and accepts its form', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ca-'));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const ca = file('ca.pem', authority.certificatePem);
  const verify = (host: string): string => {
    const leaf = file('leaf.pem', createLeaf(host, authority, leafKey, Date.now()));
    const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca, leaf];
    try {
      return execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });
    } catch (thrown) {
      return String((thrown as { stderr?: unknown }).stderr);
    }
  };
  try {
    for (const host of HOSTS) assert.match(verify(host), /: OK$/m, host);
    for (const host of REFUSED.filter((name) => !name.endsWith('.')))
      assert.match(verify(host), /permitted subtree violation/, host);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the certificate names its hosts, and leaf certificates are valid for days', async () => {
  assert.equal(permittedHosts(authority.certificatePem), HOSTS);
  const { X509Certificate } = await import('node:crypto');
  const leaf = new X509Certificate(createLeaf(HOSTS[0]!, authority, leafKey, Date.now()));
  const days = (Date.parse(leaf.validTo) - Date.now()) / 86_400_000;
  assert.ok(days > LEAF_DAYS - 1 && days <= LEAF_DAYS);
  assert.not(leaf.ca);
});

test('the files are private, refused if others can read them, and removed without a trace', async () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-ca-'));
  const umask = process.umask(0);
  try {
    const made = await makeAuthority(home, HOSTS, Date.now());
    const files = forwardFiles(home);
    for (const path of [files.key, files.certificate])
      assert.is(statSync(path).mode & 0o777, 0o600);
    assert.is(statSync(files.folder).mode & 0o777, 0o700);
    const read = await readAuthority(home);
    assert.equal([read?.hosts, read?.fingerprint], [HOSTS, made.fingerprint]);
    chmodSync(files.key, 0o644);
    let output = '';
    await readAuthority(home).catch((thrown: Error) => (output = thrown.message));
    assert.match(output, /others may read/);
    for (const [path, what] of [
      [files.key, 'private key'],
      [files.certificate, 'certificate'],
    ] as const) {
      const whole = readFileSync(path);
      for (const broken of ['', 'no PEM\n', whole.subarray(0, 90)]) {
        writeFileSync(path, broken);
        chmodSync(path, 0o600);
        await readAuthority(home).catch((thrown: Error) => (output = thrown.message));
        assert.match(output, `is not used: ${path} holds no ${what}`);
      }
      writeFileSync(path, whole);
      chmodSync(files.key, 0o600);
    }
    assert.is((await readAuthority(home))?.fingerprint, made.fingerprint);
    assert.ok(removeAuthority(home));
    assert.is(statSync(files.folder, { throwIfNoEntry: false }), undefined);
    assert.is(await readAuthority(home), undefined);
    assert.not(removeAuthority(home));
  } finally {
    process.umask(umask);
    rmSync(home, { recursive: true });
  }
});

test.run();
