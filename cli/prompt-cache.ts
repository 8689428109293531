/** What providers read from their own prompt caches, as a table. */
import type { CliContext } from './context.ts';
import type { Json } from './remote.ts';

/** Prints a row a provider of `cache`, the `prompt_cache` of `/cache-stats`; false where nobody was asked yet. */
export async function printPromptCache(context: CliContext, cache: Json): Promise<boolean> {
  const providers = Object.entries((cache['providers'] ?? {}) as Record<string, Json>);
  if (providers.length === 0) return false;
  const { printTable } = await import('./table.ts');
  printTable(
    context,
    ['prompt cache of', '>tokens read', '>tokens written', '>read share'],
    providers.map(([name, one]) => [
      name,
      tokens(one['read_tokens']),
      tokens(one['creation_tokens']),
      percent(one['hit_ratio']),
    ]),
  );
  return true;
}

/** A number of tokens; what was not measured is a dash. */
export function tokens(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : '–';
}

/** A share from 0 to 1 as a percentage. */
export function percent(ratio: unknown): string {
  return typeof ratio === 'number' ? `${(100 * ratio).toFixed(1)}%` : '–';
}
