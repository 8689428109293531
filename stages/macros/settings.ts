/** `macros`: those that are a stage for every request. */
import { kind } from '../settings/kind.ts';
import { setting } from '../settings/setting.ts';

/** Names a macro that is a stage, for one conversation. */
export const MACRO_HEADER = 'x-svc-macro';

/** As `FILE_NAME` of the files that they stand in. */
const NAMES = kind([/^[a-z0-9][a-z0-9_-]{0,63}$/, '[]'], 'a list of names of macros');

export const macros = setting('macros', {
  type: NAMES,
  default: [],
  about:
    'Macros that are a stage before compression, for every request, in this order; `x-svc-macro` names one for a conversation.',
});
