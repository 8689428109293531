/** Audit log entries written by commands, possibly while a proxy runs. */
import { toSvcError } from '../engine/error.ts';
import type { StoredKey } from '../server/auth/auth.ts';
import { homeOf } from './context.ts';
import type { CliContext } from './context.ts';
import { configOf } from './parse/flags.ts';
import { note } from './screen/output.ts';
import { controlIfRunning } from './remote.ts';

/**
 * Records a change of a key, if the audit log is on. The change has already been made: a failing
 * log stops nothing.
 */
export async function noteKeyEvent(
  context: CliContext,
  event: 'generated' | 'updated' | 'rotated' | 'revoked',
  { id, label }: Pick<StoredKey, 'id' | 'label'>,
): Promise<void> {
  try {
    if (!(await isAudited(context))) return;
    const [{ auditFiles }, { withAuditLock }, { appendEvents }] = await Promise.all([
      import('../stages/audit/files.ts'),
      import('../stages/audit/log.ts'),
      import('../stages/audit/append.ts'),
    ]);
    const files = auditFiles(homeOf(context));
    const atMs = context.clock.wallMs();
    const details = { key_id: id, label };
    await withAuditLock(files, () => appendEvents(files, [{ atMs, kind: 'key', event, details }]));
  } catch (thrown) {
    note(context, `! The audit log could not be written: ${toSvcError(thrown).message}`);
  }
}

/** Uses the running proxy's setting; without one, that of the next start. */
async function isAudited(context: CliContext): Promise<boolean> {
  const status = await controlIfRunning(homeOf(context), 'status');
  if (status !== undefined) return status['audit'] === true;
  return (await configOf(undefined, context)).config.audit.enabled;
}
