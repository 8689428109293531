/** Writes an audit log in the given folder, as fast as it can, until it is killed. */
import { systemClock } from '../../engine/index.ts';
import { auditFiles } from './files.ts';
import { AuditLog } from './log.ts';

const log = new AuditLog({
  files: auditFiles(process.argv[2] ?? ''),
  clock: systemClock,
  onProblem: (error) => process.stderr.write(`${error.message}\n`),
});
log.enable(true);
for (let n = 0; ; n += 1) {
  log.add({ kind: 'request', event: 'finished', details: { n, model: 'm'.repeat(n % 200) } });
  if (n % 20 !== 0) continue;
  await log.flush();
  // The test expects that flushed events survive the kill.
  process.stdout.write(`${log.stats().written}\n`);
}
