/**
 * What forward mode needs besides a client's settings: an authority, and a token that is valid as
 * long as the settings exist.
 */
import { SvcError } from '../../engine/error.ts';
import {
  createTokenCheck,
  revokeToken,
  revokeTokensOf,
  createToken,
} from '../../server/forward-proxy/tokens.ts';
import { configuredHosts, fittingAuthority } from '../forward/authority.ts';
import { writeBundle } from '../forward/certificate-lists.ts';
import { proxyAddressWith } from '../forward/environment.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import type { Client } from './client.ts';
import { forwardIdOf, tokenLabel, tokenOf, withForward } from './forward.ts';
import { readIntegrations } from './records.ts';

export interface ForwardGrant {
  /** The client with the token in its settings. */
  readonly client: Client;
  /** Reverts the preparations, if the settings could not be written. */
  readonly withdraw: () => void;
}

/**
 * Prepares forward mode for `client`: keeps the token in its settings if it is still valid,
 * otherwise makes a new one.
 *
 * @throws SvcError `conflict` if svc has set the client's base URL, which would bypass the proxy.
 */
export async function grantForward(context: CliContext, client: Client): Promise<ForwardGrant> {
  const home = homeOf(context);
  const { clock, env } = context;
  const { entries } = readIntegrations(home);
  refuseWithAddress(home, client);
  const { hosts } = await configuredHosts(context);
  const { authority } = await fittingAuthority(context, hosts);
  const { certificatePem: authorityPem } = authority;
  writeBundle({ env, home, authorityPem });
  const clientWithToken = (token: string): Client =>
    withForward(client, { home, granted: { token, authorityPem, hosts, cwd: context.cwd } });
  const earlier = entries.find((one) => one.client === forwardIdOf(client.id));
  const raw = earlier?.written.find(({ path }) => path.at(-1) === 'HTTPS_PROXY')?.raw;
  const kept = tokenOf(raw?.replace(/^"(.*)"$/, '$1'));
  const tokens = createTokenCheck(home, clock, () => undefined);
  if (kept !== undefined && typeof tokens.check(kept) !== 'string')
    return { client: clientWithToken(kept), withdraw: () => undefined };
  const label = tokenLabel(client.id);
  revokeTokensOf(home, clock, label);
  const { token, id } = createToken(home, clock, { label, expires: false });
  return {
    client: clientWithToken(token),
    withdraw: () => revokeToken(home, clock, id),
  };
}

/**
 * @throws SvcError `conflict` if svc has set the client's base URL, which would bypass the proxy.
 */
export function refuseWithAddress(home: string, { id, name }: Client): void {
  if (!readIntegrations(home).entries.some((one) => one.client === id)) return;
  throw new SvcError('conflict', `${name} goes through svc by its base URL`, {
    cure: `\`svc integrate ${id} --undo\` reverts that; then forward mode can take its place.`,
  });
}

/** True if a settings file's `HTTPS_PROXY` points at the proxy at `url`. */
export function pointsAt(value: unknown, url: string): boolean {
  const token = tokenOf(value);
  return token !== undefined && value === proxyAddressWith(url, token);
}
