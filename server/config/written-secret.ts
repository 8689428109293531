/** Whether the value of a secret setting, as it stands in a file, tells that secret to whoever reads the file. */
import { isObject } from '../../stages/dialect/json-kind.ts';
import { isCredentialField } from '../../stages/model/headers.ts';
import { secret } from '../../stages/settings/kind.ts';
import { mapSecretMembers } from '../../stages/settings/secret-members.ts';
import type { Setting } from '../../stages/settings/setting.ts';

/** `${NAME}` in a value: the secret itself then lies elsewhere. */
export const VARIABLE = /\$\{([^{}]*)\}/g;

/** A URL with a password, which may be empty but for variables. */
const PASSWORD_IN_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*:([^/?#]+)@/i;

/** `written` is the value as it stands there, before variables are filled in. */
export function tellsSecret(
  { secret: isSecret, secretMembers, type }: Setting,
  written: unknown,
): boolean {
  if (secretMembers !== undefined) {
    let isTold = false;
    mapSecretMembers(written, secretMembers, (text) => {
      isTold ||= isLiteral(text);
      return text;
    });
    return isTold;
  }
  if (isSecret !== true) return false;
  // Of a map of headers, only those that carry a credential.
  if (isObject(written))
    return Object.entries(written).some(
      ([name, value]) => isCredentialField(name) && typeof value === 'string' && isLiteral(value),
    );
  if (typeof written !== 'string') return false;
  if (type === secret) return isLiteral(written);
  // Paths and addresses are secret for the password that an address may hold.
  return isLiteral(PASSWORD_IN_URL.exec(written)?.[1] ?? '');
}

/** The name of a scheme before a variable is no secret. */
function isLiteral(text: string): boolean {
  const rest = text.replaceAll(VARIABLE, '').trim();
  return rest !== '' && !/^(?:Bearer|Basic|Token)$/i.test(rest);
}
