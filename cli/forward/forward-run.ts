/** Sets up one client run in forward mode: an authority, a token, and the environment. */
import { revokeToken, createToken } from '../../server/forward-proxy/tokens.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { configuredHosts, fittingAuthority, tunnelledRemarks } from './authority.ts';
import type { FittingAuthority } from './authority.ts';
import { forwardEnvironment, networkProxy } from './environment.ts';
import type { Environment } from './certificate-lists.ts';
import { bypassesOf } from './bypasses.ts';

export interface ForwardRun {
  readonly env: Environment;
  /** Remarks to print before the client starts. */
  readonly remarks: readonly string[];
  /** Revokes the token. */
  end(): void;
}

const CREATION_REASONS: Readonly<Record<NonNullable<FittingAuthority['createdBecause']>, string>> =
  {
    first: 'made a certificate authority for this machine',
    expires: 'made a new certificate authority, since the old one was about to expire',
    hosts: 'made a new certificate authority, since the providers have changed',
    unreadable: 'made a new certificate authority, since the old one could not be used',
  };

/**
 * Prepares a run of `program` through the proxy at `url`; `wasRunning` tells whether the proxy was
 * already up.
 */
export async function prepareForwardRun(
  context: CliContext,
  { url, program, wasRunning }: { url: string; program: string; wasRunning: boolean },
): Promise<ForwardRun> {
  const home = homeOf(context);
  const { env, clock } = context;
  const { hosts, tunnelled } = await configuredHosts(context);
  const { authority, createdBecause } = await fittingAuthority(context, hosts);
  const { token, id } = createToken(home, clock, { label: `run ${program}`, expires: true });
  const remarks: string[] = [];
  if (createdBecause !== undefined)
    remarks.push(`${CREATION_REASONS[createdBecause]}: \`svc ca show\``);
  // Printed only when the authority is created: at every start it would be noise.
  if (createdBecause !== undefined) remarks.push(...tunnelledRemarks(tunnelled));
  remarks.push(...bypassesOf(program, context, { home, url, hosts }));
  if (networkProxy(env) !== undefined && wasRunning)
    remarks.push(
      'HTTPS_PROXY of this shell counts only if svc was started with it: `svc config show outbound` shows the one that svc uses',
    );
  return {
    env: forwardEnvironment({
      env,
      home,
      url,
      token,
      authorityPem: authority.certificatePem,
    }),
    remarks,
    end: () => revokeToken(home, clock, id),
  };
}
