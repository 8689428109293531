/**
 * Variables as a source of settings: the process environment, and an `.env` file given with
 * `--env-file`. The clients' own `*_BASE_URL` variables are deliberately not in the table: they
 * point at this proxy, and reading them would make it call itself.
 */
import { revealsSecret } from './written-secret.ts';
import { parseEnv } from 'node:util';
import { didYouMean } from './did-you-mean.ts';
import { allows, formOf } from '../../stages/settings/kind.ts';
import type { Form } from '../../stages/settings/kind.ts';
import type { Origin, Setting, OriginKind } from '../../stages/settings/setting.ts';
import { describe, unreadableConfig, withOrigin, wrongValue } from './fault.ts';
import type { Entry, Layer } from './layer.ts';
import { fillName, settings } from './settings.ts';

/** A variable and the setting that it sets. */
export interface Variable {
  readonly name: string;
  /** The key with the built-in provider's name filled in. */
  readonly concrete: string;
  readonly setting: Setting;
  /** 0 for the first variable of a setting, which wins over the later ones. */
  readonly rank: number;
}

/** Variables of the process or a file. */
export type Variables = Readonly<Record<string, string | undefined>>;

const VARIABLES: readonly Variable[] = settings.flatMap((setting) => {
  const { key, env = [] } = setting;
  const byName = key.includes('<') ? Object.entries(env) : [['', env] as const];
  return byName.flatMap(([name, variables]) => {
    const concrete = fillName(key, name);
    return (variables as readonly string[]).map((variable, rank) => ({
      name: variable,
      concrete,
      setting,
      rank,
    }));
  });
});

/** Read when the home folder is resolved, so not a setting. */
const READ_ELSEWHERE = ['SVC_HOME'];

/** Returns every variable that sets something. */
export function allVariables(): readonly Variable[] {
  return VARIABLES;
}

/** Returns the variables that set `concrete`, strongest first. */
export function variablesOf(concrete: string): readonly string[] {
  return allVariables()
    .filter((variable) => variable.concrete === concrete)
    .map((variable) => variable.name);
}

/**
 * Reads the text of an `.env` file: `NAME=value` lines, quotes, comments, `export`. Nothing is
 * expanded.
 *
 * @returns the variables; for messages, the line of each; and the lines without any meaning.
 * @throws SvcError `config` CONFIG_001 if it cannot be read as such.
 */
export function readEnvFile(
  text: string,
  name: string,
): { variables: Variables; originOf: OriginOf; warnings: readonly string[] } {
  const lines = text.split(/\r?\n/);
  const { stray, first } = classifyLines(lines);
  let variables: Variables;
  try {
    // The parser of Node 20 reads a line without `=` as the beginning of the next variable's name.
    const read = lines.map((line, index) =>
      stray.has(index) ? '' : first.has(index) ? quoteHashes(line) : line,
    );
    variables = parseEnv(read.join('\n'));
  } catch (thrown) {
    throw unreadableConfig(`${name}: it is not a file of NAME=value lines`, thrown);
  }
  return {
    variables,
    warnings: [...stray].map(
      (line) => `${name}:${line + 1} is not a NAME=value line; it is ignored`,
    ),
    originOf: (variable) => {
      const definition = new RegExp(`^\\s*(export\\s+)?${variable}\\s*=`);
      // The last definition wins.
      const line = lines.findLastIndex((one) => definition.test(one));
      return { source: 'env-file', where: `${name}:${line + 1}, ${variable}` };
    },
  };
}

/**
 * Quotes an unquoted value that contains a `#`: a comment begins after white space, as in a shell,
 * and not inside a word, where it is part of a password. Node's parser cuts at any `#`.
 */
function quoteHashes(line: string): string {
  const found = /^(\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*)([^\s"'`#][^"'`]*)$/.exec(line);
  if (found === null || !found[2]!.includes('#')) return line;
  const value = found[2]!.split(/\s#/, 1)[0]!.trimEnd();
  return `${found[1]}'${value}'`;
}

interface LineKinds {
  /** Lines, from 0, that are neither a variable, nor within its quotes, nor a comment. */
  readonly stray: ReadonlySet<number>;
  /** Lines on which a variable begins. */
  readonly first: ReadonlySet<number>;
}

function classifyLines(lines: readonly string[]): LineKinds {
  const stray = new Set<number>();
  const first = new Set<number>();
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (/^\s*(#|$)/.test(line)) continue;
    const value = /^\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*(.*)$/.exec(line)?.[1];
    if (value === undefined) stray.add(at);
    else {
      first.add(at);
      at = lastLineOf(value, lines, at);
    }
  }
  return { stray, first };
}

/** Returns the line on which a quoted value that begins on line `at` ends. */
function lastLineOf(value: string, lines: readonly string[], at: number): number {
  const quoteMark = /^["'`]/.exec(value)?.[0];
  if (quoteMark === undefined || value.includes(quoteMark, 1)) return at;
  const end = lines.findIndex((line, index) => index > at && line.includes(quoteMark));
  return end === -1 ? at : end;
}

/** Returns the place of a variable. */
export type OriginOf = (variable: string) => Origin;

/** Returns the place of a variable of the process environment. */
export const inEnvironment: OriginOf = (variable) => ({ source: 'environment', where: variable });

/**
 * Returns the settings made by `variables`. An empty variable counts as unset, since compose files
 * and CI systems write "none" that way.
 */
export function variableLayer(
  variables: Variables,
  kind: OriginKind,
  originOf: OriginOf,
  absolute: (path: string) => string,
): Layer {
  const entries: Entry[] = [];
  const faults = [];
  for (const variable of allVariables()) {
    const text = variables[variable.name];
    if (text === undefined || text === '') continue;
    const origin = originOf(variable.name);
    const parsed = fromText(text, variable.setting);
    if (parsed === undefined) {
      const found = describe(text, variable.setting.secret === true);
      faults.push(wrongValue(origin, variable.name, found, textExpected(variable.setting)));
      continue;
    }
    const value = variable.setting.resolve?.(parsed, absolute) ?? parsed;
    const { setting, concrete, rank, name } = variable;
    const entry = { ...origin, setting, concrete, spelled: name, rank, value };
    entries.push({ ...entry, revealsSecret: revealsSecret(setting, parsed) });
  }
  const warnings = [
    ...misspeltVariables(variables, originOf),
    ...unsupportedVariables(variables, originOf),
  ];
  return { source: kind, entries, faults, names: [], warnings };
}

/** Parses `text` for this setting; undefined if invalid. */
export function fromText(text: string, setting: Setting): unknown {
  const { definition } = setting.type;
  const value = parseForm(text, formOf(definition));
  return value !== undefined && allows(definition, value) ? value : undefined;
}

/** Describes the texts that a variable or a flag may have for this setting. */
export function textExpected(setting: Setting): string {
  const { definition, text } = setting.type;
  const form = formOf(definition);
  if (form === 'boolean') return '0, 1, true or false';
  return form === 'list' ? `${text}, separated by commas` : text;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['0', false],
  ['1', true],
  ['false', false],
  ['true', true],
]);

function parseForm(text: string, form: Form): unknown {
  switch (form) {
    case 'boolean':
      return BOOLEANS.get(text);
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
    case 'list':
      return text.split(',').map((item) => item.trim());
    case 'text':
      return text;
    case 'structure':
    default:
      return undefined;
  }
}

/** Variables that other programs read, and that a user might expect to count here. */
function unsupportedVariables(variables: Variables, originOf: OriginOf): readonly string[] {
  const name = ['ALL_PROXY', 'all_proxy'].find((one) => (variables[one] ?? '') !== '');
  const hasOwn = ['HTTPS_PROXY', 'https_proxy'].some((one) => (variables[one] ?? '') !== '');
  if (name === undefined || hasOwn) return [];
  const cure = 'set HTTPS_PROXY (and HTTP_PROXY) to the http: or https: address of a proxy';
  return [
    withOrigin(`${name} is not read, and SOCKS is not supported: ${cure}`, name, originOf(name)),
  ];
}

function misspeltVariables(variables: Variables, originOf: OriginOf): readonly string[] {
  const known = [...allVariables().map((variable) => variable.name), ...READ_ELSEWHERE];
  const taken = new Set(known);
  return Object.keys(variables).flatMap((name) => {
    if (!/^(SVC|MSGPROV|CHATPROV|GENPROV)_\w+$/.test(name) || taken.has(name)) return [];
    const hint = didYouMean(name, known);
    if (hint === '') return [];
    return [withOrigin(`${name} is not a variable of svc${hint}`, name, originOf(name))];
  });
}
