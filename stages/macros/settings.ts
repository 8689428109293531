/** `macros`: those that are a stage for every request. */
import { kind } from '../settings/kind.ts';
import { setting } from '../settings/setting.ts';

/** The header that selects a macro as a stage, for one conversation. */
export const MACRO_HEADER = 'x-svc-macro';

/** Same pattern as `FILE_NAME` of their files. */
const NAMES = kind([/^[a-z0-9][a-z0-9_-]{0,63}$/, '[]'], 'a list of names of macros');

export const macros = setting('macros', {
  type: NAMES,
  default: [],
  about:
    'Macros that are a stage before compression, for every request, in this order; `x-svc-macro` names one for a conversation.',
});
