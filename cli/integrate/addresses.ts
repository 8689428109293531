/** Addresses that a setting may lose without changing where traffic goes. */

/** The providers' own addresses, to which svc sends the same requests. */
const OFFICIAL = new Set([
  'api.anthropic.com',
  'api.openai.com',
  'generativelanguage.googleapis.com',
]);

/** True for a provider's own address, and for `wanted` itself. */
export function isOwnOrOfficial(value: unknown, wanted: string): boolean {
  if (value === wanted) return true;
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { hostname, host } = new URL(value);
  return OFFICIAL.has(hostname) || (URL.canParse(wanted) && host === new URL(wanted).host);
}

/** True for text that is an address. */
export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value);
}
