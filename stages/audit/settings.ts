/** `audit.*`: who did what, in a tamper-evident log. */
import { flag } from '../settings/kind.ts';
import { isSwitchedOff, setting } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';

export const audit = slice({
  enabled: setting('audit.enabled', {
    type: flag,
    default: false,
    about:
      'Write `audit.jsonl`: requests without their contents, changes of settings and keys, loaded modules and commands, in a chain of HMACs that `svc audit verify` checks. It grows until you run `svc audit prune`.',
    loosens: isSwitchedOff,
  }),
});
