/** The options of `serve`, `start` and `restart`, and small parsers of option values. */
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { MAX_WORKERS } from '../../stages/compress/worker/count.ts';
import type { Mode } from '../../stages/compress/rules/rule.ts';
import type { LoadedConfig, LoadOptions } from '../../server/config/load.ts';
import type { CliContext } from '../context.ts';

/** Boolean options of a start. */
interface Switches {
  readonly debug: boolean;
  /** Exports traces and measurements, overriding the configuration. */
  readonly telemetry: boolean;
  /** Opens the dashboard in the browser once the proxy listens. */
  readonly dashboard: boolean;
  /** Injects vault content into requests, overriding the configuration. */
  readonly ingest: boolean;
}

/**
 * The flags of a start: absent ones were not given, so that a restart keeps them. Paths are
 * absolute.
 */
export interface ServeFlags extends Partial<Switches> {
  readonly port?: number;
  readonly config?: string;
  readonly envFile?: string;
  /** Maximum number of compression threads. */
  readonly workers?: number;
}

/** Returns the flags of a command that only has `--config`. */
export function configFlag(config: string | undefined): ServeFlags {
  return config === undefined ? {} : { config };
}

/** Loads the configuration as a start with this `--config` and `--env-file` would. */
export async function configOf(
  file: string | undefined,
  context: CliContext,
  envFile?: string,
): Promise<LoadedConfig> {
  const { loadConfig } = await import('../../server/config/load.ts');
  return loadConfig({ ...toLoadOptions(configFlag(file), context), envFile });
}

/** The flags as they were typed. */
export type TypedFlags = { readonly [name in keyof Switches]?: boolean | undefined } & {
  readonly port: string | undefined;
  readonly config: string | undefined;
  readonly envFile: string | undefined;
  readonly workers?: string | undefined;
};

/** Validates typed flags. Throws `usage` for an invalid port or number of threads. */
export function toServeFlags(typed: TypedFlags, context: CliContext): ServeFlags {
  const { port, config, envFile, workers, debug, telemetry, dashboard, ingest } = typed;
  return {
    ...(port === undefined ? {} : { port: toPort(port) }),
    ...(config === undefined ? {} : { config: resolve(context.cwd, config) }),
    ...(envFile === undefined ? {} : { envFile: resolve(context.cwd, envFile) }),
    ...(workers === undefined ? {} : { workers: toWhole(workers, '--workers', 1, MAX_WORKERS) }),
    ...(debug === true ? { debug } : {}),
    ...(telemetry === true ? { telemetry } : {}),
    ...(dashboard === true ? { dashboard } : {}),
    ...(ingest === true ? { ingest } : {}),
  };
}

/**
 * Returns the flags as arguments of `svc serve` in the background; the starting command opens the
 * browser.
 */
export function toArguments(flags: ServeFlags): string[] {
  return [
    ...(flags.port === undefined ? [] : ['--port', String(flags.port)]),
    ...(flags.config === undefined ? [] : ['--config', flags.config]),
    ...(flags.envFile === undefined ? [] : ['--env-file', flags.envFile]),
    ...(flags.workers === undefined ? [] : ['--workers', String(flags.workers)]),
    ...(flags.debug === true ? ['--debug'] : []),
    ...(flags.telemetry === true ? ['--telemetry'] : []),
    ...(flags.ingest === true ? ['--ingest'] : []),
  ];
}

/** Returns the options for loading the configuration. */
export function toLoadOptions(flags: ServeFlags, context: CliContext): LoadOptions {
  return {
    env: context.env,
    envFile: flags.envFile,
    configPath: flags.config,
    cwd: context.cwd,
    home: context.userHome,
    flags: {
      ...(flags.port === undefined ? {} : { 'server.port': flags.port }),
      ...(flags.workers === undefined ? {} : { 'compression.workers': flags.workers }),
      ...(flags.debug === true ? { 'logging.level': 'debug' } : {}),
      ...(flags.telemetry === true ? { 'telemetry.enabled': true } : {}),
      ...(flags.ingest === true ? { 'vault.enabled': true } : {}),
    },
  };
}

/** Returns the error for an invalid value of `option`; `wanted` describes the valid ones. */
export function invalidOption(
  option: string,
  text: string,
  wanted: string,
  cure?: string,
): SvcError {
  const message = `${option}: ${JSON.stringify(text)} is not ${wanted}`;
  return new SvcError('usage', message, { cure });
}

/** Parses a whole number within bounds. Throws `usage` naming `option`. */
export function toWhole(text: string, option: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidOption(option, text, `a whole number from ${min} to ${max}`);
}

/** Parses one of `names`. Throws `usage` naming `option`, with all of them. */
export function toOneOf<T extends string>(text: string, option: string, names: readonly T[]): T {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  throw invalidOption(option, text, `one of ${names.join(', ')}`);
}

/** Parses a compression mode from `--mode`. Throws `usage` for an invalid one. */
export async function toMode(text: string): Promise<Mode> {
  const { isMode } = await import('../../stages/compress/settings.ts');
  if (isMode(text)) return text;
  throw invalidOption('--mode', text, 'a mode', 'The modes are strict, hybrid and aggressive.');
}

const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses a duration such as `12h` or `30d` to seconds. Throws `usage` naming `option`. */
export function toSeconds(text: string, option: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const unit = UNIT_S[match?.[2] ?? ''];
  const seconds = Number(match?.[1]) * (unit ?? 0);
  if (seconds > 0) return seconds;
  const cure = 'Write a number with s, m, h or d, such as 30d.';
  throw invalidOption(option, text, 'a span of time', cure);
}

/** Parses a port number from `--port`, 0 for a free one. Throws `usage`. */
export function toPort(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 65_535) return value;
  const cure = 'Give a number from 1 to 65535; 0 lets the system choose one.';
  throw invalidOption('--port', text, 'a port', cure);
}
