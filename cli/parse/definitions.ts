/**
 * What every command is called, takes and says of itself. The build writes it beside the
 * bundle: help, completion and a mistyped word would otherwise load every command there is.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Definition } from 'clipanion';
import { Cli } from 'clipanion';
import type { CliContext } from '../context.ts';
import { loadCommands } from './registry.ts';

/** The file beside the bundle; modules that are run unbundled have none. */
export const DEFINITIONS_FILE = 'definitions.json';

/** Every command's definition, from the build's file or, where there is none, from the commands. */
export async function allDefinitions(): Promise<readonly Definition[]> {
  const file = new URL(DEFINITIONS_FILE, import.meta.url);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as readonly Definition[];
  return loadDefinitions();
}

/** The same from the commands themselves. */
export async function loadDefinitions(): Promise<readonly Definition[]> {
  const cli = new Cli<CliContext>({ binaryName: 'svc' });
  for (const command of await loadCommands(undefined)) cli.register(command);
  return cli.definitions();
}
