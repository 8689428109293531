/** What is written down about the work: logs, metrics, telemetry. */
import { asPath, isSwitchedOff, isSwitchedOn, setting } from '../setting.ts';
import { days, flag, oneOf, path, whole } from '../value.ts';

/** `logging.*`. */
export const logging = {
  'logging.enabled': setting({ type: flag, default: true, about: 'Write a log.' }),
  'logging.level': setting({
    type: oneOf('debug', 'info', 'warning', 'error'),
    default: 'info',
    flag: '--debug',
    about:
      'The least important line that is written; debug adds one for every request, with its steps and attempts.',
  }),
  'logging.destination': setting({
    type: oneOf('file', 'stdout'),
    default: 'file',
    about: 'Where the log goes.',
    needsRestart: true,
  }),
  'logging.retention_days': setting({
    type: days,
    default: 30,
    about: 'Days after which a log file is deleted.',
    needsRestart: true,
  }),
  'logging.include_request_body': setting({
    type: flag,
    default: false,
    about: 'Write request bodies into the log, at level info. They contain your prompts.',
    guarded: true,
  }),
  'logging.include_response_body': setting({
    type: flag,
    default: false,
    about:
      'Write response bodies into the log, at level info. They contain what the model answered.',
    guarded: true,
  }),
  'logging.format': setting({
    type: oneOf('json', 'text'),
    default: 'json',
    about: 'One JSON object a line, or lines for reading.',
    needsRestart: true,
  }),
};

/** `audit.*`: who did what, in a log that shows tampering. */
export const audit = {
  'audit.enabled': setting({
    type: flag,
    default: false,
    about:
      'Keep `audit.jsonl`: requests without their contents, changes of settings and keys, loaded modules and commands, in a chain of HMACs that `svc audit verify` checks. It grows until `svc audit prune`.',
    loosens: isSwitchedOff,
  }),
};

/** `metrics.*`. */
export const metrics = {
  'metrics.enabled': setting({
    type: flag,
    default: true,
    about: 'Collect measurements and serve `/metrics` and `/metrics/dashboard`.',
  }),
  'metrics.collection_window_seconds': setting({
    type: whole(1, 86_400, 'seconds,'),
    default: 60,
    about: 'Seconds over which rates and percentiles are taken.',
  }),
  'metrics.retention_days': setting({
    type: days,
    default: 7,
    about: 'Days for which measured values are kept.',
  }),
};

/** `telemetry.*`: a local file, nothing is sent anywhere. */
export const telemetry = {
  'telemetry.enabled': setting({
    type: flag,
    default: false,
    flag: '--telemetry',
    about:
      'Write one line of measurements per request to `telemetry.log_file`. Nothing is sent out.',
    loosens: isSwitchedOn,
  }),
  'telemetry.log_file': setting({
    type: path,
    default: null,
    defaultText: '`$SVC_HOME/telemetry.jsonl`',
    about: 'The file that telemetry writes to.',
    resolve: asPath,
    guarded: true,
    needsRestart: true,
  }),
};
