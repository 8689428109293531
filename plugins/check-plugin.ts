/**
 * Checks what a module exports as a plugin, and what the plugin provides; every fault is named with
 * its place.
 */
import { checkRecipe } from '../stages/compress/recipe/check.ts';
import type { Recipe } from '../stages/compress/recipe/recipe.ts';
import { isObject } from '../stages/dialect/json-kind.ts';
import { checkMacro, macroPart } from '../stages/macros/check.ts';
import type { Macro } from '../stages/macros/macro.ts';
import { checkDefinition } from './check.ts';
import { isStage } from './check-stage.ts';
import { HOOK_NAMES } from './hooks.ts';
import type { PluginHooks } from './hooks.ts';
import type { PluginDefinition, PluginSetup } from './plugin.ts';
import type { PluginStage } from './plugin-stage.ts';
import type { ProviderDefinition } from './provider.ts';

/** A fault: its message, and the path of keys and list indexes in the plugin's object. */
export interface DefinitionFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** All faults of one plugin. */
export class PluginFaults extends Error {
  readonly faults: readonly DefinitionFault[];
  constructor(faults: readonly DefinitionFault[]) {
    super(faults.map(({ message }) => message).join('; '));
    this.faults = faults;
  }
}

export interface PluginParts {
  readonly stages: readonly PluginStage[];
  readonly hooks: readonly PluginHooks[];
  readonly providers: readonly (ProviderDefinition & { readonly name: string })[];
  readonly recipes: readonly Recipe[];
  readonly macros: readonly Macro[];
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const PARTS = ['stages', 'hooks', 'providers', 'recipes', 'macros'] as const;
const FIELDS = ['name', 'version', 'config', 'setup', ...PARTS];

type ReportFault = (path: readonly string[], message: string) => void;

/** Checks the default export of a module. Throws `PluginFaults`. */
export function checkPlugin(exported: unknown): PluginDefinition {
  if (!isObject(exported))
    throw new Error('its default export is not a plugin: an object with name and setup');
  const faults: DefinitionFault[] = [];
  const report: ReportFault = (path, message) => void faults.push({ path, message });
  for (const field of Object.keys(exported))
    if (!FIELDS.includes(field))
      report([field], `${field} is not a plugin field; known are ${FIELDS.join(', ')}`);
  const { name, config, setup } = exported;
  if (typeof name !== 'string' || !NAME.test(name))
    report(['name'], 'name: use letters, digits, - and _');
  if (setup !== undefined && typeof setup !== 'function')
    report(['setup'], 'setup: must be a function');
  if (config !== undefined && typeof config !== 'function')
    report(['config'], 'config: must be an arktype type or a function');
  if (setup === undefined && PARTS.every((part) => exported[part] === undefined))
    report([], `setup: must be a function unless one of ${PARTS.join(', ')} is given`);
  if (faults.length > 0) throw new PluginFaults(faults);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above; its parts are
  // checked by `checkParts`
  return exported as unknown as PluginDefinition;
}

/** Checks what the definition and the result of `setup` provide. Throws `PluginFaults`. */
export function checkParts(definition: PluginSetup, returned: unknown): PluginParts {
  if (!isObject(returned))
    throw new PluginFaults([
      {
        path: ['setup'],
        message: `setup: must return an object with a list of stages, or with ${PARTS.slice(1).join(', ')}`,
      },
    ]);
  const faults: DefinitionFault[] = [];
  const report: ReportFault = (path, message) => void faults.push({ path, message });
  for (const part of Object.keys(returned))
    if (!(PARTS as readonly string[]).includes(part))
      report(
        ['setup', part],
        `setup: ${part} is not a field it may return; known are ${PARTS.join(', ')}`,
      );
  const sources = [definition, returned] as readonly Partial<Record<string, unknown>>[];
  const listOf = (part: string): readonly unknown[] =>
    sources.flatMap((source) => {
      const list = source[part];
      if (list === undefined || Array.isArray(list)) return (list ?? []) as unknown[];
      report([part], `${part}: must be a list`);
      return [];
    });
  const stages = listOf('stages').filter((stage, index) => isStage(stage, index, report));
  const hooks = sources.flatMap(({ hooks: one }) =>
    one === undefined || !isHooks(one, report) ? [] : [one],
  );
  const providers = listOf('providers').flatMap((provider, index) =>
    toProvider(provider, index, report),
  );
  const recipes = listOf('recipes').flatMap((recipe, index) => {
    const checked = checkRecipe(recipe);
    if (checked.ok) return [checked.file.recipe];
    for (const { path, message } of checked.faults)
      report(['recipes', ...path], `recipes[${index}]: ${path.join('.')} ${message}`);
    return [];
  });
  const macros = listOf('macros').flatMap((macro, index) => {
    const checked = checkMacro(macro);
    if (checked.ok) return [checked.macro];
    for (const { path, message } of checked.faults)
      report(['macros', ...path], `macros[${index}]: ${macroPart(path)} ${message}`);
    return [];
  });
  refuseDuplicates('recipe', recipes, report);
  refuseDuplicates('macro', macros, report);
  refuseDuplicates('provider', providers, report);
  if (faults.length > 0) throw new PluginFaults(faults);
  return { stages, hooks, providers, recipes, macros };
}

function isHooks(hooks: unknown, report: ReportFault): hooks is PluginHooks {
  if (!isObject(hooks)) {
    report(['hooks'], `hooks: must be an object with ${HOOK_NAMES.join(', ')}`);
    return false;
  }
  const names: readonly string[] = HOOK_NAMES;
  const others = ['onFault', 'timeoutMs'];
  const wrong = Object.entries(hooks).flatMap(([name, value]) => {
    if (others.includes(name)) return [];
    if (!names.includes(name))
      return [
        { name, message: `${name} is not a hook; known are ${[...names, ...others].join(', ')}` },
      ];
    return typeof value === 'function' ? [] : [{ name, message: `${name}: must be a function` }];
  });
  for (const { name, message } of wrong) report(['hooks', name], `hooks: ${message}`);
  return wrong.length === 0;
}

function toProvider(
  value: unknown,
  at: number,
  report: ReportFault,
): readonly (ProviderDefinition & { readonly name: string })[] {
  const checked = checkDefinition(value);
  const faults = checked.ok ? [] : checked.faults;
  for (const fault of faults)
    report(['providers', fault.split(':', 1)[0] ?? ''], `providers[${at}]: ${fault}`);
  if (!checked.ok) return [];
  const { definition } = checked;
  const { name } = definition;
  if (name !== undefined && NAME.test(name)) return [{ ...definition, name }];
  report(['providers', 'name'], `providers[${at}]: name: use letters, digits, - and _`);
  return [];
}

function refuseDuplicates(
  what: string,
  definitions: readonly { readonly name: string }[],
  report: ReportFault,
): void {
  const seen = new Set<string>();
  for (const { name } of definitions) {
    if (seen.has(name)) report([`${what}s`], `${what} ${name} is defined twice`);
    seen.add(name);
  }
}
