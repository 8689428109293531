/** The events of the audit log and their wording: metadata, never contents or secrets. */
import { toSvcError } from '../../engine/index.ts';
import type { SvcError } from '../../engine/index.ts';
import type { AuditLog } from '../../stages/audit/log.ts';
import type { AuditEvent, AuditValue } from '../../stages/audit/record.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { resultToCsv } from '../../stages/ledger/tools/results-forms.ts';
import { mcpServersOf } from '../../stages/model/tool-use.ts';
import type { ControlCommand, ControlCommands } from '../control/control.ts';
import type { Generation } from '../generation/generation.ts';

/** Returns the event of a finished request. */
export function requestEvent(row: LedgerRow): Omit<AuditEvent, 'atMs'> {
  const servers = mcpServersOf(row.toolResults, row.toolSet);
  return {
    kind: 'request',
    event: row.outcome,
    details: {
      id: row.id,
      key: row.keyLabel,
      project: row.project,
      model: row.model ?? row.modelRequested,
      provider: row.provider,
      status: row.status,
      error: row.errorCode ?? row.errorKind,
      input_tokens: row.inputTokensRaw,
      sent_input_tokens: row.inputTokensSent,
      output_tokens: row.outputTokens,
      tokens_saved: row.savedTokens,
      cost_nano_usd: row.costNanoUsd,
      tools: row.toolResults?.map(resultToCsv) ?? null,
      mcp_servers: servers.length === 0 ? null : servers,
      tool_definition_tokens: row.toolDefinitionTokens,
      tool_definition_cost_nano_usd: row.costToolDefinitionsNanoUsd,
    },
  };
}

/** Changes made by a reload: keys of settings, never their values. */
export interface ReloadChanges {
  readonly applied: readonly string[];
  readonly needsRestart: readonly string[];
  /** Names of custom providers whose code changed. */
  readonly modules: readonly string[];
  readonly plugins: readonly LoadedCode[];
}

/** A module of stages, and the hash of its content. */
type LoadedCode = Pick<Generation['plugins'][number], 'name' | 'module' | 'version'>;

/** Records a reload, a rotated key and loaded code. */
export function auditReload(
  audit: AuditLog,
  { applied, needsRestart, modules, plugins }: ReloadChanges,
  generation: Generation,
): void {
  const details = { keys: applied, keys_after_restart: needsRestart };
  audit.add({ kind: 'config', event: 'reloaded', details });
  if (applied.includes('security.api_key'))
    audit.add({ kind: 'key', event: 'rotated', details: { key_id: 'config' } });
  auditModules(audit, modules, plugins, generation);
}

/** Records a rejected configuration. */
export function auditRefusal(audit: AuditLog, error: SvcError): void {
  audit.add({ kind: 'config', event: 'refused', details: { error: error.code ?? error.kind } });
}

/** Records which code was loaded, by its content, and which failed to load. */
export function auditModules(
  audit: AuditLog,
  names: readonly string[],
  plugins: readonly LoadedCode[],
  { config, custom }: Generation,
): void {
  for (const name of names) {
    const module =
      config.customProviders.find((customProvider) => customProvider.name === name)?.module ?? null;
    const hash = custom.byName.get(name)?.version ?? null;
    audit.add({ kind: 'plugin', event: 'loaded', details: { name, module, content_hash: hash } });
  }
  for (const { name, module, version } of plugins)
    audit.add({
      kind: 'plugin',
      event: 'loaded',
      details: { name, module, content_hash: version },
    });
  for (const { name, module } of custom.faults)
    audit.add({ kind: 'plugin', event: 'refused', details: { name, module } });
}

/** Commands that change nothing; `status` is polled every second by some clients. */
const READING: ReadonlySet<string> = new Set([
  'status',
  'provider-status',
  'limits',
  'list-models',
  'check-alerts',
]);
/** Read-only inputs of other commands. */
const ASKING: ReadonlySet<unknown> = new Set(['status', 'list']);

function isQuestion(name: string, words: Readonly<Record<string, AuditValue>>): boolean {
  if (name === 'debug') return typeof words['input'] !== 'boolean';
  return Object.values(words).some((word) => ASKING.has(word));
}

/** Wraps the commands; each that may change something is recorded with its result. */
export function withAudit(commands: ControlCommands, audit: AuditLog): ControlCommands {
  const wrap = (name: string, command: ControlCommand): ControlCommand => {
    if (READING.has(name)) return command;
    return async (input) => {
      const words = wordsOf(input);
      if (isQuestion(name, words)) return command(input);
      try {
        const result: unknown = await command(input);
        audit.add({ kind: 'control', event: name, details: { ...words, error: null } });
        return result;
      } catch (thrown) {
        const error = toSvcError(thrown);
        const details = { ...words, error: error.code ?? error.kind };
        audit.add({ kind: 'control', event: name, details });
        throw thrown;
      }
    };
  };
  return Object.fromEntries(
    Object.entries(commands).map(([name, command]) => [name, wrap(name, command)]),
  );
}

/** Input members that identify the object; others may contain anything. */
const RECORDED_FIELDS = ['do', 'id', 'provider', 'state'];

function wordsOf(input: unknown): Record<string, AuditValue> {
  if (typeof input === 'string' || typeof input === 'boolean') return { input };
  if (typeof input !== 'object' || input === null) return {};
  const recorded = Object.entries(input).filter(
    (entry): entry is [string, string] =>
      RECORDED_FIELDS.includes(entry[0]) && typeof entry[1] === 'string',
  );
  return Object.fromEntries(recorded);
}
