/** Which addresses may be asked, and how: providers and the members of a fleet alike. */
import { quote } from '../../stages/settings/setting.ts';
import { isLoopback } from '../gate/addresses.ts';

/** What is allowed, and what is advised where something is not. */
export interface AddressRules {
  /** Plain `http:` to another machine. */
  readonly allowsInsecure: boolean;
  /** Where a key belongs that may not stand in the address. */
  readonly keyPlace: string;
  /** What allows plain `http:`. */
  readonly insecureSwitch: string;
  /** Parameters that every request takes along, such as the version of an API. Default: none may stand there. */
  readonly allowsQuery?: boolean;
}

/** What a parameter is called that holds a secret: addresses are shown, secrets are not. */
const SECRET_PARAMETER = /key|token|secret|sig|pass|auth|cred|code/i;

/** True for `localhost` and every loopback address, mapped forms included. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host);
}

/**
 * Why `text` is no address of a server, an origin with an optional path prefix; undefined for one
 * that is. The address itself is not quoted: it may hold a password.
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
