/** `svc audit list|export|verify|prune|summary`: the tamper-evident log. */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { auditFiles } from '../../stages/audit/files.ts';
import { withAuditLock } from '../../stages/audit/log.ts';
import { pruneAudit } from '../../stages/audit/prune.ts';
import { AUDIT_KINDS } from '../../stages/audit/record.ts';
import type { AuditRecord } from '../../stages/audit/record.ts';
import { verifyAudit } from '../../stages/audit/verify.ts';
import type { AuditVerdict } from '../../stages/audit/verify.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import { exitCodes } from '../exit.ts';
import { spanOf } from '../ledger.ts';
import { invalidOption, toWhole } from '../parse/flags.ts';
import { localMoment, localTime, zoneName } from '../../server/dashboard/page/local-time.ts';
import { counted, dollars, figure } from '../screen/output.ts';

const HOW_ON =
  'The log is off unless `audit.enabled` is true. It holds no bodies, no keys and no values of settings.';

/** Shared options for selecting a part of the log. */
abstract class AuditCommand extends SvcCommand {
  files() {
    return auditFiles(this.home);
  }

  /** Prints to stderr the faults of a log that could still be read. */
  warn({ fault, warnings }: AuditVerdict): void {
    for (const warning of warnings) this.note(`! ${warning}`);
    if (fault !== undefined) this.note(`! ${fault.text}; what follows is not shown`);
  }
}

function toKind(typed: string | undefined): AuditRecord['kind'] | undefined {
  const known = AUDIT_KINDS.find((kind) => kind === typed);
  if (typed === undefined || known !== undefined) return known;
  throw invalidOption('--kind', typed, 'a kind of record', `There are ${AUDIT_KINDS.join(', ')}.`);
}

class List extends AuditCommand {
  static override paths = [['audit', 'list']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The newest records of the audit log, oldest first',
    details: HOW_ON,
    examples: [
      ['The newest 50', '$0 audit list'],
      ['Key events of this year', '$0 audit list --kind key --since 2026-01-01'],
    ],
  });

  since = Option.String('--since', { description: 'From this ISO 8601 date or time on (UTC)' });
  kind = Option.String('--kind', { description: `One of ${AUDIT_KINDS.join(', ')}` });
  limit = Option.String('--limit', '50', { description: 'Maximum number (50)' });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  async execute() {
    const { sinceMs } = await spanOf(this.since, undefined);
    const kind = toKind(this.kind);
    const max = toWhole(this.limit, '--limit', 1, 100_000);
    const found: AuditRecord[] = [];
    const verdict = await verifyAudit(this.files(), (record) => {
      if (record.atMs < sinceMs || (kind !== undefined && record.kind !== kind)) return;
      found.push(record);
      if (found.length >= 2 * max) found.splice(0, found.length - max);
    });
    const records = found.slice(-max).map(toJson);
    if (this.json) return this.printJson({ records, fault: verdict.fault?.text ?? null });
    if (records.length === 0) this.note('No records.');
    else {
      const nowMs = this.context.clock.wallMs();
      this.printTable(
        ['>#', `time (${zoneName(nowMs)})`, 'kind', 'event', 'details'],
        records.map(({ seq, time, kind: what, event, ...details }) => [
          String(seq),
          localTime(time, nowMs),
          what,
          event,
          detailsText(details),
        ]),
      );
    }
    this.warn(verdict);
  }
}

function toJson({ seq, atMs, kind, event, details }: AuditRecord) {
  return { seq, time: new Date(atMs).toISOString(), kind, event, ...details };
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

class Export extends AuditCommand {
  static override paths = [['audit', 'export']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The whole audit log on stdout',
    details: `As stored in the file (jsonl), or as a table for spreadsheets (csv). ${HOW_ON}`,
    examples: [
      ['As it is in the file', '$0 audit export'],
      ['For a spreadsheet', '$0 audit export --format csv'],
    ],
  });

  format = Option.String('--format', 'jsonl', { description: 'jsonl or csv' });

  async execute() {
    const { context, format } = this;
    if (format !== 'jsonl' && format !== 'csv')
      throw new SvcError('usage', `--format: ${JSON.stringify(format)} is neither jsonl nor csv`);
    const isCsv = format === 'csv';
    if (isCsv) context.stdout.write(`${CSV_COLUMNS.join(',')}\r\n`);
    const verdict = await verifyAudit(this.files(), (record, { bytes }) => {
      context.stdout.write(isCsv ? csvRow(toJson(record)) : `${bytes.toString('latin1')}\n`);
    });
    this.warn(verdict);
    return verdict.fault === undefined ? 0 : exitCodes.internal;
  }
}

const CSV_COLUMNS = [
  'seq',
  'time',
  'kind',
  'event',
  'id',
  'model',
  'provider',
  'status',
  'error',
  'input_tokens',
  'sent_input_tokens',
  'output_tokens',
  'tokens_saved',
  'cost_nano_usd',
  'other',
];

function csvRow(record: Readonly<Record<string, unknown>>): string {
  const others = Object.entries(record).filter(([name]) => !CSV_COLUMNS.includes(name));
  const other = others.length === 0 ? null : JSON.stringify(Object.fromEntries(others));
  const values: Readonly<Record<string, unknown>> = { ...record, other };
  return `${CSV_COLUMNS.map((name) => csvCell(values[name] ?? null)).join(',')}\r\n`;
}

function csvCell(value: unknown): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A spreadsheet would run a cell that begins like a formula, and clients choose model names.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

class Verify extends AuditCommand {
  static override paths = [['audit', 'verify']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Check that no record of the audit log was altered',
    details: `Exits with 1 and names the first bad record otherwise. Records cut off at the end are detected while the anchor exists; anyone who can write all files of the home folder, including its key, can forge them all. ${HOW_ON}`,
    examples: [['Check it', '$0 audit verify']],
  });

  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  async execute() {
    const verdict = await verifyAudit(this.files());
    const { fault, records, firstSeq, lastSeq, anchoredSeq, pruned, hasTornTail, warnings } =
      verdict;
    const code = fault === undefined ? 0 : exitCodes.internal;
    if (this.json) {
      this.printJson({
        valid: fault === undefined,
        records,
        first_record: firstSeq,
        last_record: lastSeq,
        anchored_record: anchoredSeq,
        pruned_records: pruned,
        torn_last_line: hasTornTail,
        warnings,
        fault: fault ?? null,
      });
      return code;
    }
    const { colors } = this;
    for (const warning of warnings) this.note(`! ${warning}`);
    if (fault !== undefined) {
      this.print(`${colors.red('✗')} ${fault.text}`);
      this.note(`${counted(records, 'record')} before that ${records === 1 ? 'is' : 'are'} sound.`);
      return code;
    }
    const span = records === 0 ? '' : `, ${firstSeq} to ${lastSeq}`;
    const before = pruned === 0 ? '' : `; ${counted(pruned, 'older one')} pruned`;
    this.print(`${colors.green('ok')} ${counted(records, 'record')}${span}${before}`);
    if (hasTornTail) this.note('A crash cut the last line short; the next record takes its place.');
    return code;
  }
}

class Prune extends AuditCommand {
  static override paths = [['audit', 'prune']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Remove records before a date; the rest still verifies',
    details: `A sealed first line and a record state how many were removed. ${HOW_ON}`,
    examples: [['All of last year', '$0 audit prune --before 2026-01-01']],
  });

  before = Option.String('--before', {
    description: 'This ISO 8601 date or time (UTC)',
    required: true,
  });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  async execute() {
    const nowMs = this.context.clock.wallMs();
    const { parseIsoDate } = await import('../../server/routes/iso-date.ts');
    const beforeMs = parseIsoDate(this.before);
    if (beforeMs === undefined || beforeMs > nowMs)
      throw invalidOption(
        '--before',
        this.before,
        'a date in the past',
        'Write 2026-01-31 or 2026-01-31T12:00:00Z.',
      );
    const files = this.files();
    // Verified before taking the lock, which would create the home folder.
    await verifyAudit(files);
    const removed = await withAuditLock(files, () => pruneAudit(files, beforeMs, nowMs));
    if (this.json) this.printJson({ removed, before: new Date(beforeMs).toISOString() });
    else this.print(`Removed ${counted(removed, 'record')}`);
  }
}

class Summary extends AuditCommand {
  static override paths = [['audit', 'summary']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Records of each kind in the audit log, and from when',
    details: HOW_ON,
    examples: [['Look', '$0 audit summary']],
  });

  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });

  async execute() {
    const events = new Map<string, number>();
    const times: number[] = [];
    let costNanoUsd: number | null = null;
    const verdict = await verifyAudit(this.files(), ({ kind, event, atMs, details }) => {
      if (kind === 'start') return;
      const name = `${kind} ${event}`;
      events.set(name, (events.get(name) ?? 0) + 1);
      times[0] ??= atMs;
      times[1] = atMs;
      const cost = details['cost_nano_usd'];
      if (typeof cost === 'number') costNanoUsd = (costNanoUsd ?? 0) + cost;
    });
    const [first, last] = times.map((atMs) => new Date(atMs).toISOString());
    const counts = [...events].toSorted(([a], [b]) => (a < b ? -1 : 1));
    if (this.json)
      this.printJson({
        records: verdict.records,
        pruned_records: verdict.pruned,
        from: first ?? null,
        until: last ?? null,
        by_event: Object.fromEntries(counts),
        cost_usd: toUsd<number | null>(costNanoUsd),
        fault: verdict.fault?.text ?? null,
      });
    else {
      const rows: (readonly [string, string])[] = [
        ['Records', figure(verdict.records)],
        ['Pruned', figure(verdict.pruned)],
        ['From', localMoment(first ?? '')],
        ['Until', localMoment(last ?? '')],
        ['Cost', dollars(toUsd<number | null>(costNanoUsd))],
        ...counts.map(([name, count]) => [name, figure(count)] as const),
      ];
      this.printPairs(rows);
    }
    this.warn(verdict);
  }
}

export const commands = [List, Export, Verify, Prune, Summary];
