/** The sources of the sums: files, or this machine and the members of its fleet. */
import { hostname } from 'node:os';
import { SvcError } from '../../engine/error.ts';
import { readFleet } from '../../server/fleet/fleet-file.ts';
import type { LedgerSummary, LedgerSums } from '../../stages/ledger/summary.ts';
import type { TimeSpan } from '../../stages/ledger/queries.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { withLedger } from '../ledger.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { runningInstance } from '../process/daemon.ts';
import { readOwn } from '../remote.ts';
import type { Json } from '../remote.ts';
import { findLedgers, openFile } from './files.ts';
import type { OpenFile } from './files.ts';

/** Sums of one machine. */
export interface Part {
  /** Name of the machine; null if its rows have none. */
  readonly node: string | null;
  /** File or address of the sums. */
  readonly source: string;
  readonly summary: LedgerSummary;
}

/** Sums that were found, and sources that failed. */
export interface Gathered {
  readonly parts: readonly Part[];
  /**
   * Requests of a source that an earlier source has too; all of them if `of` is the same ledger.
   */
  readonly repeated: readonly {
    readonly source: string;
    readonly of: string | null;
    readonly requests: number | null;
  }[];
  readonly missing: readonly {
    readonly node: string;
    readonly source: string;
    readonly error: SvcError;
  }[];
}

const ANSWER_MS = 30_000;
/** Source name for rows of several machines, and for rows without a machine. */
const SHARED_LEDGER = 'shared ledger';

/** Reads the ledgers at the paths. Throws for the first that cannot be read, with its name. */
export async function fromFiles(
  paths: readonly string[],
  span: TimeSpan,
  { cwd }: CliContext,
): Promise<Gathered> {
  const files = findLedgers(paths, cwd);
  const once = files.filter(({ sameAs }) => sameAs === undefined);
  const [{ sumsOfEach }, { splitByNode }] = await Promise.all([
    import('../../stages/ledger/merged-sums.ts'),
    import('../../stages/ledger/summary.ts'),
  ]);
  const open: OpenFile[] = [];
  try {
    for (const file of once) open.push(await openFile(file));
    const readers = open.map(({ reader }) => reader);
    const sums = await sumsOfEach(readers, span);
    const parts = once.flatMap(({ name }, at) =>
      splitByNode(sums[at]!.groups).map(({ node, ...summary }) => ({
        node,
        source: name,
        summary,
      })),
    );
    const repeated = [
      ...files.flatMap(({ name, sameAs }) =>
        sameAs === undefined ? [] : [{ source: name, of: sameAs, requests: null }],
      ),
      ...once.flatMap(({ name }, at) => {
        const requests = sums[at]!.repeated;
        return requests === 0 ? [] : [{ source: name, of: null, requests }];
      }),
    ];
    return { parts, repeated, missing: [] };
  } finally {
    for (const one of open) await one.close();
  }
}

/** Response of one machine. */
interface MachineSums extends LedgerSums {
  /** Null if there is nothing yet that could be counted twice. */
  readonly ledger: string | null;
}

/** Queries this machine and all members of its fleet at once. */
export async function fromFleet(
  span: TimeSpan,
  configFile: string | undefined,
  context: CliContext,
): Promise<Gathered> {
  const home = homeOf(context);
  const [fleet, { config }, { openMembers }] = await Promise.all([
    readFleet(home),
    configInUse(configFile, context),
    import('../fleet/members.ts'),
  ]);
  const path = `/ledger/sums?${queryOf(span)}`;
  const memberClient = await openMembers(context, config);
  const here = {
    node: config.fleet.node ?? fleet?.node ?? null,
    source: 'this machine',
    answer: ownSums(home, path, span, configFile, context),
  };
  const others = (fleet?.members ?? []).map((member) => ({
    node: member.name,
    source: member.url,
    answer: memberClient.ask(member, path, ANSWER_MS).then(toMachineSums),
  }));
  const machines = [here, ...others];
  const answers = await Promise.allSettled(machines.map(({ answer }) => answer));
  await memberClient.close();
  const parts: Part[] = [];
  const repeated: { source: string; of: string; requests: null }[] = [];
  const missing: { node: string; source: string; error: SvcError }[] = [];
  const byLedger = new Map<string, string>();
  for (const [at, { node, source }] of machines.entries()) {
    const answer = answers[at]!;
    const name = node ?? source;
    if (answer.status === 'rejected') {
      if (!(answer.reason instanceof SvcError)) throw answer.reason;
      missing.push({ node: name, source, error: answer.reason });
      continue;
    }
    const { ledger, summary, nodes = [] } = answer.value;
    const sameAs = byLedger.get(ledger ?? '');
    if (sameAs !== undefined) repeated.push({ source: name, of: sameAs, requests: null });
    else if (nodes.length > 0)
      parts.push(...nodes.map((one) => ({ node: one.node, source: SHARED_LEDGER, summary: one })));
    else parts.push({ node, source, summary });
    if (ledger !== null && sameAs === undefined) byLedger.set(ledger, name);
  }
  return { parts, repeated, missing };
}

function queryOf({ sinceMs, untilMs }: TimeSpan): string {
  const query = new URLSearchParams();
  if (sinceMs > 0) query.set('since', new Date(sinceMs).toISOString());
  if (untilMs !== undefined) query.set('until', new Date(untilMs).toISOString());
  return query.toString();
}

/**
 * Reads from the running proxy, else from the ledger; undefined if this machine has served nothing
 * yet.
 */
async function ownSums(
  home: string,
  path: string,
  span: TimeSpan,
  configFile: string | undefined,
  context: CliContext,
): Promise<MachineSums> {
  if (runningInstance(home) !== undefined) {
    try {
      return await toMachineSums(await readOwn(home, path));
    } catch (thrown) {
      // A proxy started before an update lacks this path; its ledger can be read instead.
      if (!(thrown instanceof SvcError) || thrown.kind !== 'not_found') throw thrown;
    }
  }
  const [{ ledgerSums }, { ledgerId }, { config }] = await Promise.all([
    import('../../stages/ledger/summary.ts'),
    import('../../stages/ledger/ledger-id.ts'),
    configInUse(configFile, context),
  ]);
  const { db } = config.ledger;
  try {
    return await withLedger(context, configFile, async (reader) => {
      const ledger = await ledgerId(db, hostname(), reader);
      return { ledger, ...(await ledgerSums(reader, span)) };
    });
  } catch (thrown) {
    if (!(thrown instanceof SvcError) || thrown.kind !== 'not_found') throw thrown;
    return { ledger: null, summary: { byModel: [], byDay: [] } };
  }
}

/** Parses a response. Throws `bad_gateway` for an invalid one. */
async function toMachineSums(json: Json): Promise<MachineSums> {
  const { nodesFrom, summaryFrom } = await import('../../stages/ledger/summary.ts');
  const [summary, nodes] = [summaryFrom(json), nodesFrom(json)];
  const { ledger = null } = json;
  const isId = ledger === null || (typeof ledger === 'string' && /^[\da-f]{32}$/.test(ledger));
  if (summary !== undefined && nodes !== undefined && isId) return { ledger, summary, nodes };
  throw new SvcError('bad_gateway', 'its sums are not those of an svc proxy');
}
