/** Checks of the small files in the home folder that commands write: the fleet, keys of the proxy, rules of the router. */
import { SvcError } from '../../engine/error.ts';
import { isDiskFault, reasonOf } from '../../stages/disk-reason.ts';
import { shortPath } from '../context.ts';
import { counted } from '../screen/output.ts';
import { fault, ok, warning } from './finding.ts';
import type { Examined, Found } from './finding.ts';

/**
 * What `look` finds. Where a file cannot be used, that is what was found: one that is damaged hides
 * none of the other checks.
 */
export async function orFault(check: string, look: () => Found | Promise<Found>): Promise<Found> {
  try {
    return await look();
  } catch (thrown) {
    const cure = 'Mend it, or move it away: svc begins anew without it.';
    if (thrown instanceof SvcError)
      return fault(check, thrown.kind, thrown.message, thrown.cure ?? cure);
    if (!isDiskFault(thrown)) throw thrown;
    const what = thrown.path === undefined ? '' : `${thrown.path}: `;
    return fault(check, 'config', `${what}${reasonOf(thrown)}`, cure);
  }
}

/** The other machines of a fleet: whether its file can be read, and whether the keys in variables are there. */
export async function checkFleet({ context, home }: Examined): Promise<Found> {
  const { fleetFile, readFleet } = await import('../../server/fleet/fleet-file.ts');
  const fleet = await readFleet(home);
  if (fleet === undefined) return [];
  const missing = fleet.members.filter(
    ({ keyEnv }) => keyEnv !== undefined && (context.env[keyEnv] ?? '') === '',
  );
  const found = missing.map(({ name, keyEnv }) =>
    warning(
      'Fleet',
      `the key of ${name} is to be in ${keyEnv}, which is not set`,
      `Set ${keyEnv} here, or keep the key: \`svc fleet remove ${name}\`, then add it with --key-stdin.`,
    ),
  );
  if (found.length > 0) return found;
  const others = counted(fleet.members.length, 'other machine');
  const file = shortPath(fleetFile(home), context);
  return ok('Fleet', `${others} (${file}); \`svc fleet status\` asks them`);
}

/** Keys for clients on other machines: a store that cannot be read lets none of them in. */
export async function checkProxyKeys({ home }: Examined): Promise<Found> {
  const [{ readKeys }, { keysFile }] = await Promise.all([
    import('../../server/auth/store.ts'),
    import('../../server/gate/open-bind.ts'),
  ]);
  readKeys(keysFile(home));
  return [];
}

/** Rules of the router: with a damaged file a start refuses. */
export async function checkRules({ home, loaded }: Examined): Promise<Found> {
  if (loaded === undefined) return [];
  const { openRouteRules } = await import('../../server/generation/route-rules.ts');
  const { providers, customProviders } = loaded.config;
  const names = [...Object.keys(providers), ...customProviders.map(({ name }) => name)];
  openRouteRules(home, () => names).list();
  return [];
}
