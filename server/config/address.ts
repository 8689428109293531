/**
 * Which server addresses are allowed, and how they may be reached: providers and members of a fleet
 * alike.
 */
import { quote } from '../../stages/settings/setting.ts';
import { isLoopback } from '../gate/addresses.ts';

/** The rules, and the names used in advice. */
export interface AddressRules {
  /** Allows plain `http:` to another machine. */
  readonly allowsInsecure: boolean;
  /** Where a key belongs instead of in the address. */
  readonly keyPlace: string;
  /** The setting that allows plain `http:`. */
  readonly insecureSwitch: string;
  /**
   * Allows query parameters that every request repeats, such as an API version. Default: none
   * allowed.
   */
  readonly allowsQuery?: boolean;
}

/** Names of parameters that hold a secret: addresses are shown, secrets are not. */
const SECRET_PARAMETER = /key|token|secret|sig|pass|auth|cred|code/i;

/** True for `localhost` and every loopback address, including mapped forms. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host);
}

/**
 * Returns why `text` is not a valid server address (an origin with an optional path prefix);
 * undefined if it is. The address is not quoted: it may contain a password.
 */
export function addressFault(text: string, rules: AddressRules): string | undefined {
  if (!URL.canParse(text)) return 'it is not a URL such as https://host/prefix';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return `${quote(url.protocol)} is not read, expected https: or http:`;
  }
  if (url.username !== '' || url.password !== '') {
    return `it may not contain a user or a password; use ${rules.keyPlace}`;
  }
  const isQueryFree = url.search === '' && !text.includes('?');
  if (url.hash !== '' || text.includes('#') || (!isQueryFree && rules.allowsQuery !== true)) {
    return `it may not contain ${rules.allowsQuery === true ? '' : 'a query or '}a fragment`;
  }
  const secret = [...url.searchParams.keys()].find((name) => SECRET_PARAMETER.test(name));
  if (secret !== undefined) {
    return `it may not contain the parameter ${quote(secret)}: addresses are shown; use ${rules.keyPlace}`;
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !rules.allowsInsecure) {
    return `plain http: would send keys to ${url.hostname} unencrypted; use https: or ${rules.insecureSwitch}`;
  }
  return undefined;
}
