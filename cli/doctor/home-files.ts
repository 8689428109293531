/**
 * Checks the small files in the home folder that commands write: fleet, proxy keys, route rules.
 */
import { shortPath } from '../context.ts';
import { counted } from '../screen/output.ts';
import { ok, warning } from './finding.ts';
import type { Examined, Found } from './finding.ts';

/** Checks whether the fleet file can be read, and whether the variables for its keys are set. */
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

/** Checks the keys for clients on other machines: if the store cannot be read, none is admitted. */
export async function checkProxyKeys({ home }: Examined): Promise<Found> {
  const [{ readKeys }, { keysFile }] = await Promise.all([
    import('../../server/auth/store.ts'),
    import('../../server/gate/open-bind.ts'),
  ]);
  readKeys(keysFile(home));
  return [];
}

/** Checks the route rules: with a damaged file no proxy starts. */
export async function checkRules({ home, loaded }: Examined): Promise<Found> {
  if (loaded === undefined) return [];
  const { openRouteRules } = await import('../../server/generation/route-rules.ts');
  const { providers, customProviders } = loaded.config;
  const names = [...Object.keys(providers), ...customProviders.map(({ name }) => name)];
  openRouteRules(home, () => names).list();
  return [];
}
