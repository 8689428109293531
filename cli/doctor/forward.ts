/** Checks forward mode: whether its certificate authority still matches the configuration. */
import { readAuthority } from '../../server/forward-proxy/ca/files.ts';
import { DAY_MS, hostsOf } from '../forward/authority.ts';
import { ok, remark, warning } from './finding.ts';
import type { Examined, Found } from './finding.ts';

/** An expiry is reported this many days in advance. */
const SOON_DAYS = 10;
const CURE = '`svc ca create --force` makes a new one; running clients must be restarted.';

/**
 * Reports the hosts and expiry of the authority; nothing if forward mode was never used.
 *
 * @throws SvcError `config` for an unusable one.
 */
export async function checkForward({ context, home, loaded }: Examined): Promise<Found> {
  const authority = await readAuthority(home);
  if (authority === undefined) return [];
  const days = (authority.expiresMs - context.clock.wallMs()) / DAY_MS;
  if (days <= 0) return warning('Forward mode', 'its certificate authority has expired', CURE);
  const { hosts, tunnelled } = loaded
    ? await hostsOf(loaded.config, context.env)
    : { hosts: [], tunnelled: [] };
  const uncovered = hosts.filter((host) => !authority.hosts.includes(host));
  const others = tunnelled.map(({ provider, host }) =>
    remark(
      'Forward mode',
      `${host} (provider ${provider}) is not intercepted: a client that connects to it directly bypasses svc`,
    ),
  );
  if (uncovered.length > 0) {
    const names = uncovered.join(', ');
    const text = `its certificate authority was made before ${names} was a provider's host: that is tunnelled without being decrypted`;
    return [warning('Forward mode', text, CURE), ...others];
  }
  if (days < SOON_DAYS)
    return [warning('Forward mode', 'its certificate authority expires soon', CURE), ...others];
  return [ok('Forward mode', `opens ${hosts.join(', ')}`), ...others];
}
