/** What is recorded: the log, and telemetry in a local file. */
import { join } from 'node:path';
import { days, flag, oneOf, path, textKind } from '../../../stages/settings/kind.ts';
import { asPath, isSwitchedOn, setting } from '../../../stages/settings/setting.ts';
import { slice } from '../../../stages/settings/slice.ts';

/** `logging.*`. */
export const logging = slice({
  enabled: setting('logging.enabled', { type: flag, default: true, about: 'Write a log.' }),
  level: setting('logging.level', {
    type: oneOf('debug', 'info', 'warning', 'error'),
    default: 'info',
    flag: '--debug',
    about:
      'Lowest level that is logged; debug adds a line for each request, with its steps and attempts.',
  }),
  destination: setting('logging.destination', {
    type: oneOf('file', 'stdout'),
    default: 'file',
    about: 'Where the log goes.',
    needsRestart: true,
  }),
  retentionDays: setting('logging.retention_days', {
    type: days,
    default: 30,
    about: 'Days after which a log file is deleted.',
    needsRestart: true,
  }),
  includeRequestBody: setting('logging.include_request_body', {
    type: flag,
    default: false,
    about: 'Write request bodies into the log, at level info. They contain your prompts.',
    guarded: true,
  }),
  includeResponseBody: setting('logging.include_response_body', {
    type: flag,
    default: false,
    about:
      'Write response bodies into the log, at level info. They contain what the model answered.',
    guarded: true,
  }),
  format: setting('logging.format', {
    type: oneOf('json', 'text'),
    default: 'json',
    about: 'One JSON object a line, or human-readable lines.',
    needsRestart: true,
  }),
  traces: setting('advanced.enable_trace_logs', {
    type: flag,
    default: false,
    about: 'Write the trace of every request into the log, at level info.',
  }),
});

/** `telemetry.*`: OpenTelemetry. */
export const telemetry = slice({
  enabled: setting('telemetry.enabled', {
    type: flag,
    default: false,
    flag: '--telemetry',
    about:
      'Export spans and measurements (never contents) to `telemetry.endpoint` and `telemetry.log_file`.',
    loosens: isSwitchedOn,
    needsRestart: true,
  }),
  endpoint: setting('telemetry.endpoint', {
    type: textKind,
    default: 'http://127.0.0.1:4318',
    about:
      'Base URL of the OTLP/HTTP collector; `/v1/traces` and `/v1/metrics` are appended. JSON is sent.',
    refuse: (value) =>
      isHttpUrl(value) ? [] : [{ reason: 'not a URL that starts with http(s)://' }],
    guarded: true,
    needsRestart: true,
  }),
  logFile: setting('telemetry.log_file', {
    type: path,
    default: null,
    defaultText: '`$SVC_HOME/telemetry.jsonl`',
    about:
      'File that receives the same data as JSON lines; rotated daily, kept for `logging.retention_days`.',
    resolve: asPath,
    guarded: true,
    needsRestart: true,
    read: (file, home) => file ?? join(home, 'telemetry.jsonl'),
  }),
});

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
