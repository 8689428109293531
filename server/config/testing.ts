/** Loads configurations from text, for tests of this folder and of what uses it. */
import assert from 'node:assert/strict';
import { inspectConfig, loadConfig, type LoadedConfig, type LoadOptions } from './load.ts';
import type { Fault } from './fault.ts';

/** Sources as text. Paths are invented; nothing on the disk is read. */
export interface TextSources {
  /** The file that `--config` names. */
  readonly file?: string;
  /** `./proxy.yaml`. */
  readonly beside?: string;
  /** `~/.svc/config.yaml`. */
  readonly own?: string;
  /** The file that `--env-file` names. */
  readonly envFile?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Permission bits of every file. */
  readonly mode?: number;
}

/** Where the invented files stand. */
export const PLACES = { cwd: '/project', home: '/home/ada', file: '/etc/svc/c.yaml' } as const;

/** The options that make `loadConfig` see these texts. */
export function fromText(sources: TextSources): LoadOptions {
  const files: Readonly<Record<string, string | undefined>> = {
    [PLACES.file]: sources.file,
    [`${PLACES.cwd}/proxy.yaml`]: sources.beside,
    [`${PLACES.home}/.svc/config.yaml`]: sources.own,
    [`${PLACES.cwd}/my.env`]: sources.envFile,
  };
  return {
    env: sources.env ?? {},
    flags: sources.flags ?? {},
    configPath: sources.file === undefined ? undefined : PLACES.file,
    envFile: sources.envFile === undefined ? undefined : 'my.env',
    cwd: PLACES.cwd,
    home: PLACES.home,
    readFile: (path) => {
      const text = files[path];
      return text === undefined ? undefined : { text, mode: sources.mode ?? 0o600 };
    },
  };
}

/** Loads from texts; throws as `loadConfig` does. */
export function loadText(sources: TextSources): Promise<LoadedConfig> {
  return loadConfig(fromText(sources));
}

/** The faults of these texts. */
export async function faultsOf(sources: TextSources): Promise<readonly Fault[]> {
  return (await inspectConfig(fromText(sources))).faults;
}

/** Sources with one fault, and how its text starts. */
export type BadCase = readonly [sources: TextSources, fault: string];

/** Asserts that each case makes exactly one fault, with the expected text. */
export async function expectOneFaultEach(cases: readonly BadCase[]): Promise<void> {
  for (const [sources, expected] of cases) {
    const texts = (await faultsOf(sources)).map((one) => one.text);
    assert.equal(texts.length, 1, `${JSON.stringify(sources)} made ${JSON.stringify(texts)}`);
    assert.equal(texts[0]?.slice(0, expected.length), expected);
  }
}
