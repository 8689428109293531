/**
 * The definitions of all commands: names, options and descriptions. The build writes them next to
 * the bundle: otherwise help, completion and a mistyped word would load every command.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Definition } from 'clipanion';
import { Cli } from 'clipanion';
import type { CliContext } from '../context.ts';
import { loadCommands } from './registry.ts';

/** The file next to the bundle; unbundled modules have none. */
export const DEFINITIONS_FILE = 'definitions.json';

/** Returns every command's definition, from the build's file or else from the commands. */
export async function allDefinitions(): Promise<readonly Definition[]> {
  const file = new URL(DEFINITIONS_FILE, import.meta.url);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as readonly Definition[];
  return loadDefinitions();
}

/** Returns the definitions from the commands themselves. */
export async function loadDefinitions(): Promise<readonly Definition[]> {
  const cli = new Cli<CliContext>({ binaryName: 'svc' });
  for (const command of await loadCommands(undefined)) cli.register(command);
  return cli.definitions();
}
