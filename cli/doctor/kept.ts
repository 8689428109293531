/** Checks of the small files in the home folder that commands write: the fleet, keys of the proxy, rules of the router. */
import { shortPath } from '../context.ts';
import { counted } from '../screen/output.ts';
import { ok, warning } from './finding.ts';
import type { Examined, Found } from './finding.ts';

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
