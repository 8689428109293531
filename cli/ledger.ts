/**
 * Reads the ledger, with or without a running proxy: it contains requests that ended at least 100
 * ms ago. The query builder is loaded here, and only by commands that need it.
 */
import { Option } from 'clipanion';
import { SvcCommand } from './command.ts';
import { SvcError } from '../engine/error.ts';
import type { LedgerReader } from '../stages/ledger/tables.ts';
import type { TimeSpan } from '../stages/ledger/queries.ts';
import type { CliContext } from './context.ts';
import { configInUse } from './parse/config-in-use.ts';
import { invalidOption } from './parse/flags.ts';

export type LedgerQueries = typeof import('../stages/ledger/queries.ts');

/** Opens the ledger of the given or current configuration, and closes it after `work`. */
export async function withLedger<T>(
  context: CliContext,
  configFile: string | undefined,
  work: (reader: LedgerReader, queries: LedgerQueries) => Promise<T>,
): Promise<T> {
  const [{ config }, { openReader }, queries] = await Promise.all([
    configInUse(configFile, context),
    import('../stages/ledger/open-reader.ts'),
    import('../stages/ledger/queries.ts'),
  ]);
  const reader = await openReader(config.ledger.db);
  try {
    return await work(reader, queries);
  } finally {
    await reader.destroy();
  }
}

/** A command that reads the ledger. */
export abstract class LedgerCommand extends SvcCommand {
  config = Option.String('--config', { description: 'Config file that names the ledger' });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  protected ledger<T>(work: (reader: LedgerReader, queries: LedgerQueries) => Promise<T>) {
    return withLedger(this.context, this.config, work);
  }
}

/** A command that reads a period of the ledger. */
export abstract class SpanCommand extends LedgerCommand {
  since = Option.String('--since', { description: 'From this ISO 8601 date or time on (UTC)' });
  until = Option.String('--until', { description: 'Before this ISO 8601 date or time (UTC)' });

  /** Returns the typed period. Throws `usage` if it is invalid. */
  protected span(defaultSinceMs?: number): Promise<TimeSpan> {
    return spanOf(this.since, this.until, defaultSinceMs);
  }
}

/** Parses a typed period. Throws `usage` for an invalid date. */
export async function spanOf(
  since: string | undefined,
  until: string | undefined,
  defaultSinceMs = 0,
): Promise<TimeSpan> {
  const { parseIsoDate } = await import('../server/routes/iso-date.ts');
  const toMs = (option: string, text: string): number => {
    const atMs = parseIsoDate(text);
    if (atMs !== undefined) return atMs;
    const cure = 'Write 2026-01-31 or 2026-01-31T12:00:00Z.';
    throw invalidOption(option, text, 'an ISO 8601 date', cure);
  };
  const sinceMs = since === undefined ? defaultSinceMs : toMs('--since', since);
  if (until === undefined) return { sinceMs };
  const untilMs = toMs('--until', until);
  if (untilMs <= sinceMs)
    throw new SvcError('usage', '--until is not after --since', {
      cure: 'Name an earlier --since or a later --until.',
    });
  return { sinceMs, untilMs };
}

/** Describes the period, for the head of a report. */
export function spanText({ sinceMs, untilMs }: TimeSpan): string {
  const day = (ms: number) => {
    const iso = new Date(ms).toISOString();
    return iso.endsWith('T00:00:00.000Z')
      ? iso.slice(0, 10)
      : `${iso.slice(0, 16).replace('T', ' ')}Z`;
  };
  if (sinceMs === 0) return untilMs === undefined ? 'all time' : `before ${day(untilMs)}`;
  return untilMs === undefined ? `since ${day(sinceMs)}` : `${day(sinceMs)} to ${day(untilMs)}`;
}
