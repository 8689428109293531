/** `capture.*`: whole exchanges, kept for replay. */
import { days, flag, megabytes } from '../settings/kind.ts';
import { isSwitchedOn, setting, toBytes } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';

export const capture = slice({
  enabled: setting('capture.enabled', {
    type: flag,
    default: false,
    about: 'Keep requests and answers on disk for `svc replay`. They contain your prompts.',
    loosens: isSwitchedOn,
  }),
  maxBytes: setting('capture.max_mb', {
    type: megabytes,
    default: 256,
    about: 'Maximum megabytes of captures; the oldest are deleted first.',
    read: toBytes,
  }),
  retentionDays: setting('capture.retention_days', {
    type: days,
    default: 7,
    about: 'Days after which a capture is deleted.',
  }),
});
