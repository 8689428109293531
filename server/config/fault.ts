/** The faults of a configuration, and the one error that lists them all. */
import { SvcError } from '../../engine/error.ts';
import { quote } from '../../stages/settings/setting.ts';
import type { Origin } from '../../stages/settings/setting.ts';
import { visible } from '../log/visible.ts';
import { nearest } from './did-you-mean.ts';
import { findSetting, SPELLINGS } from './settings.ts';

/** One fault. */
export interface Fault extends Origin {
  /** The key as the user spelled it; empty for the file as a whole. */
  readonly key: string;
  /** The value found; secrets are described, never quoted. */
  readonly found?: string;
  /** The expected value. */
  readonly expected?: string;
  /** The known key that was probably intended. */
  readonly nearest?: string;
  /** The whole fault in one line. */
  readonly text: string;
}

/** Returns the fault for a value of the wrong type. */
export function wrongValue(origin: Origin, key: string, found: string, expected: string): Fault {
  return fault(origin, key, `${key}: found ${found}, expected ${expected}`, { found, expected });
}

/**
 * Returns the fault for a missing required field at `path`; `key` is the setting that it belongs
 * to.
 */
export function missingField(origin: Origin, key: string, path: string, expected: string): Fault {
  return fault(origin, key, `Missing required field '${path}': ${expected}`, { expected });
}

/** Returns the fault for a key that is not a setting. */
export function unknownKey(origin: Origin, path: readonly string[]): Fault {
  const key = path.join('.');
  if (path.some((segment) => segment.includes('.')) && findSetting(key.split('.')) !== undefined) {
    const nested = key.split('.').join(': {') + ': …' + '}'.repeat(key.split('.').length - 1);
    return fault(origin, key, `${key} is written as one key; sections are nested: ${nested}`, {
      nearest: key,
    });
  }
  const near = nearestKey(path);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  const details = near === undefined ? {} : { nearest: near };
  return fault(origin, key, `${key} is not a setting${hint}`, details);
}

/** Returns any other fault of `key`; `text` is the whole sentence. */
export function fault(
  origin: Origin,
  key: string,
  text: string,
  details: Pick<Fault, 'found' | 'expected' | 'nearest'> = {},
): Fault {
  return { ...origin, key, ...details, text: visible(withOrigin(text, key, origin)) };
}

/** Appends the place to a sentence about `key`, unless the key is the place already. */
export function withOrigin(text: string, key: string, { where }: Origin): string {
  return where === '' || where === key ? text : `${text} (${where})`;
}

/** Formats a value for a fault: short, on one line, and never a secret. */
export function describe(value: unknown, secret: boolean): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a map';
  if (secret) return typeof value === 'string' ? `${value.length} characters` : `a ${typeof value}`;
  if (typeof value === 'string') return quote(value);
  return typeof value === 'number' || typeof value === 'boolean' ? `${value}` : `a ${typeof value}`;
}

/** Returns CONFIG_001: a file that cannot be read or is not well-formed. */
export function unreadableConfig(reason: string, cause?: unknown): SvcError {
  return new SvcError('config', `Failed to load config: ${reason}`, { code: 'CONFIG_001', cause });
}

/** Returns CONFIG_002: all faults of the values, one line each. */
export function invalidConfig(faults: readonly Fault[]): SvcError {
  const lines = faults.map((one) => one.text);
  const message =
    lines.length === 1
      ? `Config validation failed: ${lines[0]}`
      : `Config validation failed: ${lines.length} faults\n  ${lines.join('\n  ')}`;
  const cure = '`svc config show` lists every setting; `svc config validate` checks a file';
  return new SvcError('config', message, { code: 'CONFIG_002', cure });
}

/** Returns the setting that `path` probably meant; the user's own names in it are kept. */
function nearestKey(path: readonly string[]): string | undefined {
  const candidates = new Set<string>();
  for (const spelling of SPELLINGS) {
    const segments = spelling.split('.');
    const filled = segments.map((segment, index) =>
      segment.startsWith('<') ? (path[index] ?? segment) : segment,
    );
    for (let length = 1; length <= filled.length; length++) {
      if (length === filled.length || length === path.length) {
        candidates.add(filled.slice(0, length).join('.'));
      }
    }
  }
  const section = path
    .slice(0, -1)
    .map((name) => `${name}.`)
    .join('');
  const siblings = [...candidates].filter((candidate) => candidate.startsWith(section));
  if (section === '' || siblings.length === 0) return nearest(path.join('.'), candidates);
  // If the section is right, its name must not make all of its keys equally near.
  const near = nearest(
    path.at(-1) ?? '',
    siblings.map((sibling) => sibling.slice(section.length)),
  );
  return near === undefined ? undefined : section + near;
}
