/**
 * Decides whether the value of a secret setting, as written in a file, reveals that secret to a
 * reader of the file.
 */
import { isObject } from '../../stages/dialect/json-kind.ts';
import { isCredentialField } from '../../stages/model/headers.ts';
import { secret } from '../../stages/settings/kind.ts';
import { mapSecretMembers } from '../../stages/settings/secret-members.ts';
import type { Setting } from '../../stages/settings/setting.ts';

/** `${NAME}` in a value: the secret itself is then stored elsewhere. */
export const VARIABLE = /\$\{([^{}]*)\}/g;

/** A URL with a password, which may be empty apart from variables. */
const PASSWORD_IN_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*:([^/?#]+)@/i;

/** True if `written`, the value before variables are filled in, reveals the secret. */
export function revealsSecret(
  { secret: isSecret, secretMembers, type }: Setting,
  written: unknown,
): boolean {
  if (secretMembers !== undefined) {
    let isReported = false;
    mapSecretMembers(written, secretMembers, (text) => {
      isReported ||= isLiteral(text);
      return text;
    });
    return isReported;
  }
  if (isSecret !== true) return false;
  // In a map of headers, only those that carry a credential.
  if (isObject(written))
    return Object.entries(written).some(
      ([name, value]) => isCredentialField(name) && typeof value === 'string' && isLiteral(value),
    );
  if (typeof written !== 'string') return false;
  if (type === secret) return isLiteral(written);
  // Paths and addresses are secret because an address may contain a password.
  return isLiteral(PASSWORD_IN_URL.exec(written)?.[1] ?? '');
}

/** True unless the text is only variables; a scheme name before a variable is not a secret. */
function isLiteral(text: string): boolean {
  const rest = text.replaceAll(VARIABLE, '').trim();
  return rest !== '' && !/^(?:Bearer|Basic|Token)$/i.test(rest);
}
