/**
 * Dependencies: each is locked by hash, few have install scripts, licences are compatible, and they
 * can be listed.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { projectRoot } from '../fixtures/paths.ts';

interface Locked {
  readonly version: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
}

interface Component {
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

/** Packages whose install script may run, and why. */
const MAY_RUN: ReadonlyMap<string, string> = new Map([
  ['better-sqlite3', 'fetches or compiles SQLite'],
  ['esbuild', 'of the build: checks its program'],
  ['@google/genai', 'of tests: prints nothing, builds nothing'],
  ['protobufjs', 'of tests, by way of the one above'],
]);
/** Licences that allow distributing the package with its dependencies. */
const LICENCES =
  /^(?:MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|\(.*(?:MIT|Apache-2\.0).*\))$/;

const { lockfileVersion, packages } = JSON.parse(
  readFileSync(join(projectRoot, 'package-lock.json'), 'utf8'),
) as { readonly lockfileVersion: number; readonly packages: Readonly<Record<string, Locked>> };

const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 13);
const locked = Object.entries(packages)
  .filter(([path]) => path !== '')
  .map(([path, one]) => ({ name: nameOf(path), ...one }));
/** The packages installed with svc. */
const installed = locked.filter(({ dev, devOptional }) => dev !== true && devOptional !== true);

test('every package has one version and one hash, and comes from the configured registry', () => {
  assert.is(lockfileVersion, 3);
  assert.ok(installed.length > 50);
  const loose = locked.filter(
    ({ version, integrity, resolved }) =>
      !/^\d+\.\d+\.\d+/.test(version) ||
      integrity?.startsWith('sha512-') !== true ||
      resolved !== undefined,
  );
  assert.equal(loose, []);
});

test('only the known packages run a script when they are installed', () => {
  const running = locked.filter(({ hasInstallScript }) => hasInstallScript === true);
  assert.equal(running.map(({ name }) => name).toSorted(), [...MAY_RUN.keys()].toSorted());
  assert.equal(
    running.filter(({ dev }) => dev !== true).map(({ name }) => name),
    ['better-sqlite3'],
  );
});

test('every installed package has a licence that allows redistribution', () => {
  assert.equal(
    installed.filter(({ license = '' }) => !LICENCES.test(license)),
    [],
  );
});

// Without `--omit dev`, with which npm omits packages needed by tests as well (npm 11.19).
test('the list of components has every package with its hash from the lock file', () => {
  const argv = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const text = execFileSync('npm', argv, {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { bomFormat, components } = JSON.parse(text) as {
    readonly bomFormat: string;
    readonly components: readonly Component[];
  };
  assert.is(bomFormat, 'CycloneDX');
  const listed = components.map(({ purl, hashes = [] }) => `${purl} ${hashes[0]?.content}`);
  const wanted = locked.map(({ name, version, integrity }) => {
    const hash = Buffer.from(integrity!.slice('sha512-'.length), 'base64').toString('hex');
    return `pkg:npm/${name.replace('@', '%40')}@${version} ${hash}`;
  });
  assert.equal([...new Set(listed)].toSorted(), [...new Set(wanted)].toSorted());
});

test.run();
