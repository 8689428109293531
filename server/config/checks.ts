/** Checks between settings: names that must exist, URLs that must be safe. */
import {
  PROVIDER_KINDS,
  PROVIDER_NAME,
  PUBLIC_BASE_URLS,
} from '../../stages/providers/settings.ts';
import { quote } from '../../stages/settings/setting.ts';
import type { Origin } from '../../stages/settings/setting.ts';
import { addressFault, isLoopbackHost } from './address.ts';
import { didYouMean, nearest } from './did-you-mean.ts';
import { fault, missingField, type Fault } from './fault.ts';
import type { ChosenName } from './layer.ts';
import type { Values } from './names.ts';
import { fillName, type SettingKey } from './settings.ts';

/** For a name that only a flag set, which has no file and line. */
const NOWHERE: Origin = { source: 'flag', where: '' };

/** Returns every fault between settings. */
export function crossCheck(values: Values, chosen: readonly ChosenName[]): readonly Fault[] {
  return [
    ...badNames(chosen),
    ...values.names('providers').flatMap((name) => checkProvider(values, name, chosen)),
    ...checkReferences(values, chosen),
    ...checkCustom(values),
    ...checkEach(values),
    ...checkPorts(values),
    ...checkRate(values),
  ];
}

function badNames(chosen: readonly ChosenName[]): readonly Fault[] {
  return chosen.flatMap((choice) => {
    const key = `${choice.section}.${choice.name}`;
    if (choice.section !== 'providers' || PROVIDER_NAME.test(choice.name)) return [];
    const text = `${key}: a provider name has 1 to 64 letters, digits, - and _`;
    return [fault(choice, key, text, { expected: 'letters, digits, - and _' })];
  });
}

function checkProvider(
  values: Values,
  name: string,
  chosen: readonly ChosenName[],
): readonly Fault[] {
  const builtIn = (PROVIDER_KINDS as readonly string[]).includes(name);
  return [
    ...(builtIn ? checkBuiltIn(values, name) : checkNamed(values, name, chosen)),
    ...checkBaseUrl(values, name),
    ...checkHeaders(values, name),
  ];
}

function checkBuiltIn(values: Values, name: string): readonly Fault[] {
  const kind = values.from('providers.<name>.kind', name);
  if (kind.value === null || kind.value === name) return [];
  const key = `providers.${name}.kind`;
  const text = `${key}: the kind of a built-in provider is its name; choose another name for it`;
  return [fault(kind, key, text, { expected: name })];
}

function checkNamed(values: Values, name: string, chosen: readonly ChosenName[]): readonly Fault[] {
  const kind = values.get('providers.<name>.kind', name);
  const origin = chosen.find((one) => one.section === 'providers' && one.name === name) ?? NOWHERE;
  if (kind === null) {
    const key = `providers.${name}.kind`;
    const expected = `one of ${PROVIDER_KINDS.join(', ')}`;
    const near = nearest(name, PROVIDER_KINDS);
    const hint = near === undefined ? '' : `; or did you mean providers.${near}?`;
    return [missingField(origin, key, key, `${expected}${hint}`)];
  }
  if (PUBLIC_BASE_URLS[kind] !== null || values.get('providers.<name>.base_url', name) !== null) {
    return [];
  }
  const key = `providers.${name}.base_url`;
  return [missingField(origin, key, key, `no public address belongs to ${kind}`)];
}

function checkBaseUrl(values: Values, name: string): readonly Fault[] {
  const from = values.from('providers.<name>.base_url', name);
  if (typeof from.value !== 'string') return [];
  const key = `providers.${name}.base_url`;
  const reason = refusal(from.value, values, name);
  return reason === undefined ? [] : [fault(from, key, `${key}: ${reason}`)];
}

/** Returns why a base URL is refused. The URL is not quoted: it may contain a password. */
function refusal(text: string, values: Values, name: string): string | undefined {
  const wrong = addressFault(text, {
    allowsInsecure: values.get('providers.<name>.allow_insecure', name),
    keyPlace: 'api_key or headers',
    insecureSwitch: 'set allow_insecure',
    allowsQuery: true,
  });
  if (wrong !== undefined) return wrong;
  const url = new URL(text);
  if (isOurs(url, isLoopbackHost(url.hostname), values))
    return 'it is the address of this proxy, which would call itself';
  return undefined;
}

function isOurs(url: URL, local: boolean, values: Values): boolean {
  const port = values.get('server.port');
  if (port === 0) return false;
  const ours = [port, values.get('server.ws_port') ?? port + 1];
  const theirs = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const host = values.get('server.host').toLowerCase();
  return ours.includes(theirs) && (local || url.hostname.toLowerCase() === host);
}

/** Headers that the proxy itself sets or drops. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'proxy-authorization',
  'x-svc-key',
]);

function checkHeaders(values: Values, name: string): readonly Fault[] {
  const from = values.from('providers.<name>.headers', name);
  return Object.keys(values.get('providers.<name>.headers', name)).flatMap((header) => {
    const key = `providers.${name}.headers.${header}`;
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(header)) {
      return [fault(from, key, `providers.${name}.headers: ${quote(header)} is not a header name`)];
    }
    const own = OWN_HEADERS.has(header.toLowerCase());
    return own ? [fault(from, key, `${key}: this header is the proxy's own to set`)] : [];
  });
}

/**
 * Checks references to unknown providers. Plugins may add providers: then the generation's
 * `refuseUnknown` checks instead.
 */
function checkReferences(values: Values, chosen: readonly ChosenName[]): readonly Fault[] {
  if (values.get('plugins').length > 0) return [];
  const custom = values.get('custom_providers').map((one) => one.name);
  const known = [...values.names('providers'), ...custom];
  // A fallback may name the model to use there: `provider/model`.
  const fallbacks = [values.get('routing.fallback')]
    .flat()
    .map((target) => target.split('/', 1)[0]!);
  const named: [SettingKey, string, string | null][] = [
    ['routing.primary', '', values.get('routing.primary')],
    ...fallbacks.map((name): [SettingKey, string, string] => ['routing.fallback', '', name]),
    ...values
      .names('models')
      .map((alias): [SettingKey, string, string | null] => [
        'models.<alias>.provider',
        alias,
        values.get('models.<alias>.provider', alias),
      ]),
  ];
  const references = named.flatMap(([key, owner, name]) =>
    name === null || known.includes(name)
      ? []
      : [unknownProvider(values.from(key, owner), fillName(key, owner), name, known)],
  );
  const limits = chosen
    .filter((one) => one.section === 'rate_limiting' && !known.includes(one.name))
    .map((one) => unknownProvider(one, `rate_limiting.${one.name}`, one.name, known));
  return [...references, ...limits];
}

/** Runs each setting's own check of its value. */
function checkEach(values: Values): readonly Fault[] {
  return [...values.all].flatMap(([key, from]) => {
    const refusals = from.value === null ? [] : (from.setting.refuse?.(from.value) ?? []);
    return refusals.map(({ reason, ...details }) => fault(from, key, `${key}: ${reason}`, details));
  });
}

function checkCustom(values: Values): readonly Fault[] {
  const taken = new Set(values.names('providers'));
  return values.get('custom_providers').flatMap(({ name }) => {
    const isFree = !taken.has(name);
    taken.add(name);
    if (isFree) return [];
    const text = `custom_providers: the name ${quote(name)} is taken already`;
    return [fault(values.from('custom_providers'), 'custom_providers', text)];
  });
}

function unknownProvider(
  origin: Parameters<typeof fault>[0],
  key: string,
  name: string,
  known: readonly string[],
): Fault {
  const hint = didYouMean(name, known) || `; known are ${known.join(', ')}`;
  return fault(origin, key, `${key}: there is no provider ${quote(name)}${hint}`);
}

function checkPorts(values: Values): readonly Fault[] {
  const port = values.get('server.port');
  const wsPort = values.get('server.ws_port');
  if (port !== 0 && port === wsPort) {
    const text = `server.ws_port: ${wsPort} is the main port already; /ws is served there too`;
    return [fault(values.from('server.ws_port'), 'server.ws_port', text)];
  }
  if (port === 65535 && wsPort === null) {
    const text = 'server.port: no port follows 65535 for the WebSocket; set server.ws_port';
    return [fault(values.from('server.port'), 'server.port', text)];
  }
  return [];
}

function checkRate(values: Values): readonly Fault[] {
  const burst = values.from('rate_limit.burst_size');
  if (burst.value === null || values.get('rate_limit.requests_per_second') !== null) return [];
  const key = 'rate_limit.requests_per_second';
  const why = 'rate_limit.burst_size means nothing without it';
  return [missingField(burst, key, key, why)];
}
