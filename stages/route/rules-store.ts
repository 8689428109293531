/** The manual rules, stored in one JSON file that users may read and edit. */
import { SvcError } from '../../engine/index.ts';
import { checkRule } from './rules-check.ts';
import type { RouteRule } from './rules.ts';

/** Access to the file. The writer must replace it whole and keep it private (mode 0600). */
export interface RuleFile {
  readonly path: string;
  /** Its text; undefined if it does not exist yet. */
  read(): string | undefined;
  write(text: string): void;
}

/** A rule that may lack an id: it then gets the next free one. */
export type NewRule = Omit<RouteRule, 'id' | 'priority'> &
  Partial<Pick<RouteRule, 'id' | 'priority'>>;

export type RuleStore = ReturnType<typeof createRuleStore>;

export interface RuleStoreOptions {
  readonly file: RuleFile;
  /** Returns the names of the configured providers, called each time. */
  readonly providers: () => readonly string[];
}

const VERSION = 1;

/**
 * Creates the store of the rules in `file`, read at every call: the command line and a running
 * proxy share it.
 */
export function createRuleStore({ file, providers }: RuleStoreOptions) {
  const list = (): readonly RouteRule[] => readRules(file, providers());
  const save = (rules: readonly RouteRule[]): void =>
    file.write(`${JSON.stringify({ version: VERSION, rules }, undefined, 2)}\n`);
  return {
    /** Returns the rules in the order they were added. Throws CONFIG_001 if the file is damaged. */
    list,
    /** Returns those of `rules` that the router ignores because their provider is gone. */
    ignoredRules(rules: readonly RouteRule[]): readonly RouteRule[] {
      const known = providers();
      return rules.filter((rule) => !known.includes(providerOf(rule)));
    },
    /** Adds a rule and returns it as stored. Throws `bad_request` listing all its faults. */
    add(rule: NewRule): RouteRule {
      const rules = list();
      const ids = rules.map((one) => one.id);
      const checked = checkRule(
        { ...rule, id: rule.id ?? freeId(ids) },
        { providers: providers(), ids },
      );
      if (!checked.ok)
        throw new SvcError('bad_request', `The rule is not valid: ${checked.faults.join('; ')}`);
      save([...rules, checked.rule]);
      return checked.rule;
    },
    /** Removes a rule. Throws `not_found` if there is none with this id. */
    remove(id: string): RouteRule {
      const rules = list();
      const removed = rules.find((rule) => rule.id === id);
      if (removed === undefined) {
        throw new SvcError('not_found', `There is no rule '${id}'`, {
          cure: 'List the rules with `svc route list`.',
        });
      }
      save(rules.filter((rule) => rule !== removed));
      return removed;
    },
  };
}

/**
 * Parses the text of a file. A rule whose provider is gone stays in the list, so that temporarily
 * removing a provider from the configuration loses no rules; the router ignores it. Throws
 * CONFIG_001, naming every fault with its place.
 */
function readRules(file: RuleFile, providers: readonly string[]): readonly RouteRule[] {
  const text = file.read();
  if (text === undefined) return [];
  const written = parse(text, file.path);
  const rules: RouteRule[] = [];
  const faults: string[] = [];
  for (const [index, value] of written.entries()) {
    const checked = checkRule(value, {
      providers: [...providers, providerOf(value)],
      ids: rules.map((rule) => rule.id),
    });
    if (checked.ok) rules.push(checked.rule);
    else faults.push(...checked.faults.map((fault) => `rule ${index + 1}: ${fault}`));
  }
  if (faults.length > 0) throw damagedFileError(file.path, faults.join('; '));
  return rules;
}

function parse(text: string, path: string): readonly unknown[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw damagedFileError(path, 'it is not JSON', cause);
  }
  if (typeof json === 'object' && json !== null && 'version' in json && 'rules' in json) {
    if (json.version === VERSION && Array.isArray(json.rules)) return json.rules;
    if (json.version !== VERSION) throw damagedFileError(path, 'it was written by another version');
  }
  throw damagedFileError(path, 'it has no list of rules');
}

function providerOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('target' in value)) return '';
  return String(value.target).split('/', 1)[0] ?? '';
}

function damagedFileError(path: string, reason: string, cause?: unknown): SvcError {
  return new SvcError('config', `Failed to load the route rules of ${path}: ${reason}`, {
    code: 'CONFIG_001',
    cause,
    cure: 'Correct the file, or remove it to start without rules.',
  });
}

function freeId(ids: readonly string[]): string {
  let number = ids.length + 1;
  while (ids.includes(`r${number}`)) number += 1;
  return `r${number}`;
}
