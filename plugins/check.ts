/** Checks what a module exports as its provider, and reports all faults at once. */
import { isObject } from '../stages/dialect/json-kind.ts';
import { ENDPOINT_KINDS } from '../stages/model/endpoint.ts';
import type { ProviderDefinition } from './provider.ts';

/** A valid definition, or its faults as sentences. */
export type CheckedDefinition =
  | { readonly ok: true; readonly definition: ProviderDefinition }
  | { readonly ok: false; readonly faults: readonly string[] };

interface Field {
  readonly expected: string;
  readonly isValid: (value: unknown) => boolean;
  readonly isRequired?: true;
}

const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isAmount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Fields that the proxy sets itself. */
const OWN_HEADERS = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);

const isHeaders = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, text]) =>
      /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) &&
      !OWN_HEADERS.has(name.toLowerCase()) &&
      typeof text === 'string' &&
      /^[\u0020-\u007e]*$/.test(text),
  );
const isTexts = (value: unknown): boolean => isObject(value) && Object.values(value).every(isText);
const isAuth = (value: unknown): boolean =>
  value === 'none' ||
  (isObject(value) &&
    typeof value['env'] === 'string' &&
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(value['env']) &&
    [undefined, 'key', 'bearer'].includes(value['scheme'] as string | undefined));
const isPricing = (value: unknown): boolean =>
  isObject(value) && isAmount(value['inputUsdPer1m']) && isAmount(value['outputUsdPer1m']);

const FLAG: Field = { expected: 'true or false', isValid: isFlag };
const SECONDS: Field = { expected: 'seconds, from 0', isValid: isAmount };
const HOOK: Field = { expected: 'a function', isValid: isFunction };

const FIELDS: Readonly<Record<keyof ProviderDefinition, Field>> = {
  name: { expected: 'a text', isValid: isText },
  kind: {
    expected: 'messages, chat or generative',
    isValid: (value) => (ENDPOINT_KINDS as readonly string[]).includes(String(value)),
    isRequired: true,
  },
  baseUrl: { expected: 'a URL such as https://host/prefix', isValid: isText, isRequired: true },
  allowInsecure: FLAG,
  auth: { expected: "'none', or an object with env and perhaps scheme", isValid: isAuth },
  headers: { expected: 'header names with values of visible ASCII', isValid: isHeaders },
  modelAliases: { expected: 'aliases with model names', isValid: isTexts },
  extraBody: { expected: 'an object', isValid: isObject },
  supportsStreaming: FLAG,
  timeoutSeconds: SECONDS,
  idleTimeoutSeconds: SECONDS,
  pricing: { expected: 'inputUsdPer1m and outputUsdPer1m', isValid: isPricing },
  request: HOOK,
  response: HOOK,
  event: HOOK,
};

/** Checks one definition. */
export function checkDefinition(value: unknown): CheckedDefinition {
  if (!isObject(value)) {
    return { ok: false, faults: ['its default export is not a provider definition'] };
  }
  const faults = Object.keys(value)
    .filter((name) => !Object.hasOwn(FIELDS, name))
    .map(
      (name) => `${name} is not a part of a provider; known are ${Object.keys(FIELDS).join(', ')}`,
    );
  for (const [name, { expected, isValid, isRequired }] of Object.entries(FIELDS)) {
    const given = value[name];
    if (given === undefined && isRequired !== true) continue;
    if (!isValid(given)) faults.push(`${name}: expected ${expected}`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field was checked above
  const definition = value as unknown as ProviderDefinition;
  if (faults.length === 0) faults.push(...addressFaults(definition));
  return faults.length > 0 ? { ok: false, faults } : { ok: true, definition };
}

/** Returns why an address is refused. It is not quoted: it may contain a password. */
function addressFaults({ baseUrl, allowInsecure }: ProviderDefinition): string[] {
  if (!URL.canParse(baseUrl)) return ['baseUrl: expected a URL such as https://host/prefix'];
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return ['baseUrl: expected https: or http:'];
  if (url.username !== '' || url.password !== '' || /[?#]/.test(baseUrl))
    return ['baseUrl: it may hold no user, password, query or fragment'];
  const isLocal = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLocal && allowInsecure !== true)
    return ['baseUrl: plain http: to another machine needs allowInsecure'];
  return [];
}
