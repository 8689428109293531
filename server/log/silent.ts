/** The log of a graph that serves no clients: nothing is written. */
import { join } from 'node:path';
import type { Clock } from '../../engine/index.ts';
import { createLog } from './log.ts';
import type { Log } from './log.ts';

/** Returns the silent log; its file would be in `scratch`. */
export function silentLog(scratch: string, clock: Clock): Log {
  return createLog({
    isEnabled: false,
    level: 'error',
    includeRequestBody: false,
    includeResponseBody: false,
    includeTraces: false,
    destination: { kind: 'file', path: join(scratch, 'svc.log') },
    format: 'text',
    retentionDays: 1,
    clock,
  });
}
