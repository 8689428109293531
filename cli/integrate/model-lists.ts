/** Files in which each listed model has its own base URL: Continue's and LiteLLM's. */
import { isAlias, isMap, isSeq } from 'yaml';
import type { Change, RequiredChanges } from './client.ts';
import { isOwnOrOfficial } from './addresses.ts';
import { parse } from './yaml-text.ts';

/** The structure of a file's model list. */
export interface ModelList {
  /** Name of the top-level list. */
  readonly list: string;
  /** Path of the object within a model that holds its settings; empty for the model itself. */
  readonly params: readonly string[];
  readonly providerOf: (settings: Readonly<Record<string, unknown>>) => unknown;
  /** Name of the base URL member. */
  readonly base: string;
  /** Base URL by provider; models of other providers are left alone. */
  readonly bases: Readonly<Record<string, string>>;
}

/** Returns a base URL for every model that currently uses a provider's own address. */
export function modelChanges(text: string, shape: ModelList): RequiredChanges {
  const document = parse(text);
  const models = document.get(shape.list, true);
  const changes: Change[] = [];
  const remarks: string[] = [];
  for (const [at, model] of isSeq(models) ? models.items.entries() : []) {
    const path = [shape.list, at, ...shape.params];
    const node: unknown = document.getIn(path, true);
    if (isAlias(model) || isAlias(node) || !isMap(node)) {
      remarks.push(`${shape.list}[${at}] is left unchanged: it is not written out here.`);
      continue;
    }
    const settings = node.toJSON() as Readonly<Record<string, unknown>>;
    const provider = shape.providerOf(settings);
    const base = typeof provider === 'string' ? shape.bases[provider] : undefined;
    const name = `${shape.list}[${at}] (${String(settings['name'] ?? settings['model'] ?? provider)})`;
    const present = settings[shape.base];
    if (base === undefined)
      remarks.push(`${name} is left unchanged: svc has no address for its provider.`);
    else if (present === undefined || isOwnOrOfficial(present, base))
      changes.push({ path: [...path, shape.base], value: base });
    else remarks.push(`${name} is left unchanged: it goes to ${JSON.stringify(present)}.`);
  }
  return { changes, remarks };
}
