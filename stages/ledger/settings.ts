/** `ledger.*`, `fleet.*` and `metrics.*`: what is recorded of each request. */
import { join } from 'node:path';
import { days, flag, kind, path, wholeNumber } from '../settings/kind.ts';
import { setting, toMs } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';
import { faultOfUrl, isUrl } from './address.ts';

export const ledger = slice({
  db: setting('ledger.db', {
    type: path,
    default: null,
    defaultText: '`$SVC_HOME/monitor.db`',
    env: ['SVC_DB'],
    about:
      'The ledger: path of an SQLite file, or the URL of a Postgres database that several machines share (`postgres://user:password@host/name`; `${NAME}` stands for a variable).',
    // A URL may contain a password; a plain path is shown.
    secret: true,
    resolve: (value, absolute) => (isUrl(value) ? value : absolute(value)),
    guarded: true,
    needsRestart: true,
    refuse(value) {
      const reason = isUrl(value) ? faultOfUrl(value) : undefined;
      return reason === undefined
        ? []
        : [{ reason, expected: 'a path, or postgres://user:password@host/name' }];
    },
    read: (value, home) => value ?? join(home, 'monitor.db'),
  }),
});

/** A name that the user gives to a machine: it appears in rows, tables and files. */
export const NODE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** The same in words. */
export const NODE_NAME_TEXT = '1 to 64 letters, digits, dots, - and _';

export const fleet = slice({
  node: setting('fleet.node', {
    type: kind(NODE_NAME, NODE_NAME_TEXT),
    default: null,
    defaultText: 'the name that `svc fleet init` gave it, else none',
    env: ['SVC_NODE'],
    about: 'Name of this machine, which every row of the ledger carries.',
    guarded: true,
    needsRestart: true,
  }),
});

export const metrics = slice({
  enabled: setting('metrics.enabled', {
    type: flag,
    default: true,
    about: 'Collect measurements and serve `/metrics` and `/metrics/dashboard`.',
  }),
  windowMs: setting('metrics.collection_window_seconds', {
    type: wholeNumber(1, 86_400, 'seconds,'),
    default: 60,
    about: 'Seconds over which the rates and percentiles of `/metrics/dashboard` are taken.',
    read: toMs,
  }),
  retentionDays: setting('metrics.retention_days', {
    type: days,
    default: 7,
    about:
      'Whole UTC days before today for which single requests are kept; sums by hour stay for good.',
  }),
});

export const attribution = slice({
  projects: setting('attribution.projects', {
    type: kind(['boolean', '|', /^(?:on|off)$/], 'true, false, on or off'),
    default: true,
    read: (value) => value === true || value === 'on',
    about:
      'Read the project of a request from the working directory that known agents name in their prompt: the name of the folder alone is kept. Off, a project is what `x-svc-project` or the key names.',
  }),
});
