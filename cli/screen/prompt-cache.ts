/** What providers read from their own prompt caches, as a table. */
import type { CliContext } from '../context.ts';
import { counted, dollars, figure, percent, print } from './output.ts';
import type { Json } from '../remote.ts';

/** Describes the effect of svc's cache markers. */
function markerText(markers: Json): string {
  const requests = counted(Number(markers['requests']), 'request');
  const tokens = `${figure(markers['read_tokens'])} tokens read, ${figure(markers['written_tokens'])} written`;
  return `${requests}, ${tokens}, ${dollars(markers['cost_saved_usd'])} saved`;
}

/**
 * Prints an empty line and one row per provider of `cache`, the `prompt_cache` of `/cache-stats`;
 * false if no provider has been used yet.
 */
export async function printPromptCache(context: CliContext, cache: Json): Promise<boolean> {
  const providers = Object.entries((cache['providers'] ?? {}) as Record<string, Json>);
  if (providers.length === 0) return false;
  const { printTable } = await import('./table.ts');
  print(context);
  printTable(
    context,
    ['prompt cache of', '>tokens read', '>tokens written', '>read share'],
    providers.map(([name, one]) => [
      name,
      figure(one['read_tokens']),
      figure(one['creation_tokens']),
      percent(one['hit_ratio']),
    ]),
  );
  const markers = (cache['breakpoints'] ?? {}) as Json;
  if (Number(markers['requests']) > 0)
    print(context, `Of these at markers that svc set: ${markerText(markers)}.`);
  return true;
}
