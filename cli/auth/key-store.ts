/**
 * The proxy keys that `svc auth` manages: those of a shared Postgres ledger, else those of the home
 * folder.
 */
import { isPostgresUrl } from '../../stages/ledger/address.ts';
import { ensureHome } from '../../server/config/home.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { configInUse } from '../parse/config-in-use.ts';

/**
 * Opens the store; its methods may return promises. Rejects with `config` if the configuration,
 * which names the location of the keys, cannot be read.
 */
export async function keyStoreOf(context: CliContext, configFile: string | undefined) {
  const { keysFile } = await import('../../server/gate/open-bind.ts');
  const home = homeOf(context);
  const file = keysFile(home);
  const { clock, random } = context;
  const { config } = await configInUse(configFile, context);
  const { db } = config.ledger;
  ensureHome(home);
  if (isPostgresUrl(db)) {
    const { openSharedKeyStore } = await import('../../server/auth/shared-keys.ts');
    return openSharedKeyStore({ url: db, file, clock, random });
  }
  const { openKeyStore } = await import('../../server/auth/auth.ts');
  return openKeyStore({ file, clock, random });
}
