/** pi: a base URL for each of its providers, in its models file or by an extension. */
import { join } from 'node:path';
import { ensurePrivateFolder, writePrivateFile } from '../../server/config/home.ts';
import type { Change, ClientRun, RunAdditions } from './client.ts';

/** The path that its client for each provider expects in the base URL. */
const PATHS = { anthropic: '', openai: '/v1', google: '/v1beta' } as const;

/** Returns the settings for its models file. */
export function piSettings(url: string): readonly Change[] {
  return Object.entries(PATHS).map(([provider, path]) => ({
    path: ['providers', provider, 'baseUrl'],
    value: `${url}${path}`,
  }));
}

/** Its own commands, which use no model and accept no extension. */
const COMMANDS: ReadonlySet<string> = new Set(['install', 'remove', 'update', 'list', 'config']);

/** pi reads no variable, but an extension can set a provider's address for one run. */
export function piRun({ url, home, rest }: ClientRun): RunAdditions {
  if (COMMANDS.has(rest[0] ?? '')) return {};
  const folder = join(home, 'run');
  ensurePrivateFolder(folder);
  const file = join(folder, 'pi-through-svc.js');
  writePrivateFile(file, extension(url));
  return { args: ['--extension', file] };
}

function extension(url: string): string {
  const calls = Object.entries(PATHS).map(([provider, path]) => {
    const options = JSON.stringify({ baseUrl: `${url}${path}` });
    return `  pi.registerProvider(${JSON.stringify(provider)}, ${options});\n`;
  });
  return `// Written by \`svc run\` at each start of pi.\nexport default function (pi) {\n${calls.join('')}}\n`;
}
