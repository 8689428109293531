/** Credentials in a request, which must not be logged even if the response repeats them. */
import { isCredentialField } from '../../stages/model/headers.ts';
import type { Headers } from '../../stages/model/headers.ts';

/** Shorter ones occur in any text by chance, so they cannot be masked. */
const MIN_CHARS = 3;

/** Returns the credentials in the headers and in the query of `target`, without their scheme. */
export function credentialsOf(headers: Headers, target: string): readonly string[] {
  const found: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (!isCredentialField(headers[i]!)) continue;
    const value = headers[i + 1]!.trim();
    found.push(value, value.replace(/^[A-Za-z][\w-]*[ \t]+/, ''));
  }
  const query = target.indexOf('?');
  const parameters = new URLSearchParams(query < 0 ? '' : target.slice(query + 1));
  for (const name of ['key', 'api_key', 'access_token']) found.push(...parameters.getAll(name));
  return [...new Set(found)].filter((one) => one.length >= MIN_CHARS);
}
