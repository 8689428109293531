/** Formats values for display: never a secret, anything else unchanged. */
import { mapSecretMembers } from '../../stages/settings/secret-members.ts';
import type { Provenance } from './layer.ts';

/** Minimum length of a secret whose last four characters may be shown. */
const LONG_ENOUGH = 20;

/** Returns the value as JSON, null if not set; a secret in words, as in `redactedText`. */
export function redactedValue(provenance: Provenance): unknown {
  const { setting, value } = provenance;
  if (value === null) return null;
  if (setting.secret === true) return redactedText(provenance);
  if (setting.secretMembers === undefined) return value;
  return mapSecretMembers(value, setting.secretMembers, redactedSecret);
}

/** Returns the value as one line of text; a secret as `set (…1a2b)`, or `set` if it is short. */
export function redactedText({ setting, value }: Provenance): string {
  if (value === null) return setting.defaultText?.replaceAll('`', '') ?? 'none';
  if (setting.secret === true) return redactedSecret(value);
  if (setting.secretMembers !== undefined)
    return JSON.stringify(mapSecretMembers(value, setting.secretMembers, redactedSecret));
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function redactedSecret(value: unknown): string {
  if (typeof value === 'string') {
    if (value.startsWith('/')) return value;
    if (/^[a-z+]+:\/\//i.test(value)) return 'set (a URL)';
    return value.length >= LONG_ENOUGH ? `set (…${value.slice(-4)})` : 'set';
  }
  const names = Object.keys(Object(value));
  return names.length === 0 ? 'none' : `set (${names.join(', ')})`;
}
