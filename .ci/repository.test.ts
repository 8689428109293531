/**
 * The state of a checkout: Node versions agree, CI runs all checks, and no private registry is
 * named.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { projectRoot } from '../fixtures/paths.ts';

const textOf = (file: string) => fs.readFileSync(join(projectRoot, file), 'utf8');

interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly container: string;
  readonly strategy: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const workflow = parse(textOf('.github/workflows/check.yml')) as Workflow;

test('.nvmrc and both containers have the same Node version, and CI tests it', () => {
  const version = textOf('.nvmrc').trim();
  assert.ok(textOf('Containerfile').includes(`ARG NODE=${version}\n`));
  assert.ok(textOf('.devcontainer/Containerfile').includes(`FROM node:${version}-bookworm\n`));
  const { engines } = JSON.parse(textOf('package.json')) as { engines: { node: string } };
  const oldest = /\d+/.exec(engines.node)?.[0];
  const tried = workflow.jobs['run']!.strategy.matrix.node;
  assert.ok(tried.includes(version) && tried.includes(oldest!), tried.join());
});

test('CI runs the same .ci/run as a contributor, and the file is executable', () => {
  const runs = Object.values(workflow.jobs).flatMap(({ steps }) => steps.map(({ run }) => run));
  assert.equal(
    runs.filter((run) => run !== undefined),
    ['.ci/run'],
  );
  fs.accessSync(join(projectRoot, '.ci/run'), fs.constants.X_OK);
});

test('the README says how to start the proxy and how to run the tests', () => {
  const readme = textOf('README.md');
  for (const command of ['npm start', 'npm test']) assert.match(readme, command);
});

test('every file that the development container refers to exists', () => {
  const { build } = JSON.parse(textOf('.devcontainer/devcontainer.json')) as {
    readonly build: { readonly dockerfile: string };
  };
  assert.ok(fs.existsSync(join(projectRoot, '.devcontainer', build.dockerfile)));
});

test('no file names a package registry: images and packages come from the configured one', () => {
  const visit = (path: string): readonly string[] =>
    fs.statSync(join(projectRoot, path)).isFile()
      ? [path]
      : fs.readdirSync(join(projectRoot, path)).flatMap((name) => visit(join(path, name)));
  const places = [
    'Containerfile',
    'README.md',
    'CONTRIBUTING.md',
    'docs',
    'deploy',
    'compose.yaml',
    '.github',
  ];
  const registry =
    /\b(?:registry\.(?!ts\b)\w|npmjs|(?:docker|ghcr|quay|gcr|mcr)\.(?:io|microsoft)|pkg\.dev)/;
  for (const file of [...places, '.devcontainer'].flatMap(visit))
    assert.not.match(textOf(file), registry, file);
});

test.run();
