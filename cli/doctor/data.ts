/** Checks the data of svc: the ledger, the index of the user's files, and recent ledger entries. */
import { existsSync, statSync } from 'node:fs';
import { SvcError } from '../../engine/error.ts';
import type { LoadedConfig } from '../../server/config/load.ts';
import { isPostgresUrl, ledgerName } from '../../stages/ledger/address.ts';
import { shortPath } from '../context.ts';
import { counted, percent } from '../screen/output.ts';
import { fault, ok, remark, warning } from './finding.ts';
import type { Examined, Finding, Found } from './finding.ts';

/** A quick check reads the whole file; a larger one would take more than a few seconds. */
const MAX_CHECKED_BYTES = 1024 * 1024 * 1024;
/** Fewer requests give no meaningful rate. */
const MIN_REQUESTS = 5;
const MANY_ERRORS = 0.1;

export async function checkLedger({ context, home, loaded }: Examined): Promise<Found> {
  if (loaded === undefined) return [];
  const file = loaded.config.ledger.db;
  if (isPostgresUrl(file))
    return [...(await checkShared(file)), ...(await checkName(home, loaded))];
  const short = shortPath(file, context);
  if (!existsSync(file)) return remark('Ledger', `${short} does not exist yet; a start creates it`);
  const { openReadOnly } = await import('../../stages/ledger/sqlite/connection.ts');
  try {
    const database = openReadOnly(file);
    try {
      if (statSync(file).size > MAX_CHECKED_BYTES)
        return remark('Ledger', `${short} is too large for a quick check`);
      const [row] = database.prepare('PRAGMA quick_check(1)').all([]) as [object];
      const found = String(Object.values(row)[0]);
      if (found === 'ok') return ok('Ledger', `${short} is sound`);
      return damagedFinding(short, found);
    } finally {
      database.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) return damagedFinding(short, (thrown as Error).message);
    return fault('Ledger', thrown.kind, thrown.message, thrown.cure ?? '`svc restart` may fix it.');
  }
}

async function checkShared(url: string): Promise<Finding[]> {
  const [{ inspectPostgres: lookAtPostgres }, { refusalOf }, { migrations }] = await Promise.all([
    import('../../stages/ledger/postgres/reader.ts'),
    import('../../stages/ledger/postgres/client.ts'),
    import('../../stages/ledger/migrations.ts'),
  ]);
  const name = ledgerName(url);
  try {
    const found = await lookAtPostgres(url);
    const refusal = refusalOf(found, url, migrations.length);
    if (refusal !== undefined) return [fault('Ledger', 'config', refusal.message, refusal.cure)];
    const server = `${name} answers (PostgreSQL ${found.serverVersion})`;
    if (found.version === 0) return [remark('Ledger', `${server}; a start creates its tables`)];
    if (found.version === migrations.length) return [ok('Ledger', server)];
    return [remark('Ledger', `${server}; a start of this version brings its tables up to date`)];
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    return [fault('Ledger', thrown.kind, thrown.message, thrown.cure ?? 'See its server’s log.')];
  }
}

/** Warns if this machine has no name in a shared ledger: its rows could not be attributed to it. */
async function checkName(home: string, { config }: LoadedConfig): Promise<Finding[]> {
  const { readFleet } = await import('../../server/fleet/fleet-file.ts');
  // Faults of that file are reported by another check.
  const fleet = await readFleet(home).catch(() => undefined);
  if ((config.fleet.node ?? fleet?.node ?? null) !== null) return [];
  const cure = '`svc fleet init` gives it one, from the next start on.';
  return [remark('Ledger', 'rows of this machine have no name in the shared ledger', cure)];
}

function damagedFinding(file: string, what: string): Finding {
  const cure = '`svc restart`: a start puts a damaged ledger aside and begins a new one.';
  return fault('Ledger', 'internal', `${file} is damaged: ${what.split('\n')[0]}`, cure);
}

export async function checkVaultIndex({ context, loaded }: Examined): Promise<Found> {
  if (loaded === undefined || !loaded.config.vault.enabled) return [];
  const { checkVault } = await import('../../stages/vault/log/health.ts');
  const health = await checkVault(loaded.config.vault.indexPath);
  const short = shortPath(health.path, context);
  if (health.status === 'missing')
    return remark('Vault', 'no files are indexed', '`svc index <folder>` makes an index.');
  if (health.status === 'ok')
    return ok(
      'Vault',
      `${counted(health.files, 'file')} of ${counted(health.roots.length, 'folder')} (${short})`,
    );
  return fault(
    'Vault',
    'internal',
    `${short}: ${health.reasons.join('; ')}`,
    '`svc vault-health repair` makes it again from the files.',
  );
}

/** Reports how many requests failed in the last day, and the main reason. */
export async function checkErrors({ context, loaded }: Examined): Promise<Found> {
  if (loaded === undefined) return [];
  const { db } = loaded.config.ledger;
  if (!isPostgresUrl(db) && !existsSync(db)) return [];
  const [{ openReader }, { lastDayReport }] = await Promise.all([
    import('../../stages/ledger/open-reader.ts'),
    import('../../stages/ledger/queries.ts'),
  ]);
  try {
    const reader = await openReader(db);
    try {
      const { totals, failures } = await lastDayReport(reader, context.clock.wallMs());
      const { requests, errors } = totals;
      const text = `${counted(errors, 'error')} in ${counted(requests, 'request')} of the last 24 hours`;
      if (requests < MIN_REQUESTS || errors / requests < MANY_ERRORS) return ok('Errors', text);
      const [most] = failures;
      return warning(
        'Errors',
        `${text} (${percent(errors / requests)}), most often ${statusText(most?.status)}`,
        '`svc requests --failed` lists them; `svc logs` shows the reasons.',
      );
    } finally {
      await reader.destroy();
    }
  } catch (thrown) {
    if (thrown instanceof SvcError) return [];
    throw thrown;
  }
}

const WEEK_MS = 7 * 86_400_000;
/** Listing more models would hide other findings. */
const MAX_MODELS = 5;

/**
 * Reports models used in the last week without a known price: budgets and reports leave them out.
 * Throws `config` if the user's own prices, without which no proxy starts, cannot be read.
 */
export async function checkPrices({ context, loaded }: Examined): Promise<Found> {
  if (loaded === undefined) return [];
  const { ownPrices } = await import('../../server/generation/providers.ts');
  ownPrices(loaded.config);
  const { db } = loaded.config.ledger;
  if (!isPostgresUrl(db) && !existsSync(db)) return [];
  const [{ openReader }, { unpricedModels }] = await Promise.all([
    import('../../stages/ledger/open-reader.ts'),
    import('../../stages/ledger/unpriced.ts'),
  ]);
  try {
    const reader = await openReader(db);
    try {
      const found = await unpricedModels(reader, context.clock.wallMs() - WEEK_MS);
      if (found.length === 0) return ok('Prices', 'every model of the last week has a price');
      const named = found
        .slice(0, MAX_MODELS)
        .map(({ model, requests }) => `${model ?? 'unknown'} (${counted(requests, 'request')})`);
      const more = found.length > MAX_MODELS ? ` and ${found.length - MAX_MODELS} more` : '';
      return warning(
        'Prices',
        `the cost of the last week excludes requests without a known price: ${named.join(', ')}${more}`,
        '`svc why ID` names what has no price; prices.json in the home folder or providers.<name>.pricing sets one.',
      );
    } finally {
      await reader.destroy();
    }
  } catch (thrown) {
    if (thrown instanceof SvcError) return [];
    throw thrown;
  }
}

function statusText(status: number | null | undefined): string {
  if (status === null) return 'no answer';
  return status === 200 ? 'an answer that broke off' : `status ${status}`;
}

/** Subscription traffic is compressed only if the user asks for it. */
export function checkSubscription({ loaded }: Examined): Found {
  if (loaded === undefined || loaded.config.compression.subscriptionTraffic) return [];
  return remark(
    'Subscription',
    "traffic with a subscription's token goes through unchanged",
    'compression.subscription_traffic: true compresses it too.',
  );
}
