/**
 * Verifiers that clients are built with, told to trust the local authority: curl, Chromium and Go.
 */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createAuthority, createKey, createLeaf } from './certificate.ts';
import { HOSTS, OTHERS } from '../../../fixtures/authority-hosts.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'svc-ca-'));
const authority = await createAuthority(HOSTS, Date.now());
const leafKey = await createKey();
const key = leafKey.export({ type: 'pkcs8', format: 'pem' });
const leafFor = (host: string): string => createLeaf(host, authority, leafKey, Date.now());
const ca = join(folder, 'ca.pem');
writeFileSync(ca, authority.certificatePem);

/** Answers for any requested host with a leaf certificate of the local CA. */
const server = createServer(
  {
    key,
    cert: leafFor(HOSTS[0]!),
    SNICallback: (host, done) => done(null, createSecureContext({ key, cert: leafFor(host) })),
  },
  (_request, response) => response.end('believed'),
);
server.on('tlsClientError', () => undefined);
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address() as AddressInfo;

/** Resolves with the program's error, or with `believed` if it accepted the certificate. */
type Verdict = (host: string) => Promise<string>;

async function judge(verdictOf: Verdict, refusal: RegExp): Promise<void> {
  for (const host of HOSTS) assert.is(await verdictOf(host), 'believed', host);
  for (const host of OTHERS) assert.match(await verdictOf(host), refusal, host);
}

test('curl trusts the authority only for the intercepted hosts', () =>
  judge(async (host) => {
    const to = ['--noproxy', '*', '--connect-to', `::127.0.0.1:${port}`];
    const curl = run('curl', ['-sS', '--cacert', ca, ...to, `https://${host}/`]);
    return curl.then(({ stdout }) => stdout).catch((error: Error) => error.message);
  }, /permitted subtree violation/));

test('Go trusts the authority only for the intercepted hosts', async () => {
  const source = join(folder, 'verify.go');
  writeFileSync(source, GO_PROGRAM);
  const program = join(folder, 'verify');
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GOCACHE: join(folder, 'go'),
    GO111MODULE: 'off',
  };
  execFileSync('go', ['build', '-o', program, source], { env, stdio: 'pipe' });
  await judge(async (host) => {
    const leaf = join(folder, 'leaf.pem');
    writeFileSync(leaf, leafFor(host));
    return (await run(program, [ca, leaf, host])).stdout;
  }, /not permitted by any constraint/);
});

test('Chromium trusts an installed authority only for the intercepted hosts', async () => {
  const store = join(folder, '.pki', 'nssdb');
  mkdirSync(store, { recursive: true });
  const database = ['-d', `sql:${store}`];
  execFileSync('certutil', [...database, '-N', '--empty-password']);
  execFileSync('certutil', [...database, '-A', '-n', 'svc', '-t', 'C,,', '-i', ca]);
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * 127.0.0.1'],
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
  });
  try {
    await judge(async (host) => {
      const page = await browser.newPage();
      try {
        await page.goto(`https://${host}:${port}/`);
        return await page.innerText('body');
      } catch (thrown) {
        return (thrown as Error).message;
      } finally {
        await page.close();
      }
    }, /ERR_CERT_/);
  } finally {
    await browser.close();
  }
});

test.after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const GO_PROGRAM = `package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
)

func main() {
	ca, _ := os.ReadFile(os.Args[1])
	text, _ := os.ReadFile(os.Args[2])
	block, _ := pem.Decode(text)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		fmt.Print(err)
		return
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: os.Args[3]})
	if err != nil {
		fmt.Print(err)
		return
	}
	fmt.Print("believed")
}
`;

test.run();
