/**
 * The structured log. The logger and the rotating file are loaded when the first line is written,
 * so that they do not slow the start; lines written meanwhile wait in memory. Every line passes the
 * redactor, without exception. Bodies are logged only if the user asked for them.
 */
import type { Level, Logger } from 'pino';
import type { Clock } from '../../engine/clock.ts';
import { REDACTED, type Redactor, createRedactor } from './redact.ts';
import { type LogDestination, type LogSink, openSink } from './sink.ts';
import { toTextLine } from './text.ts';
import { visibleJson } from './visible.ts';

export type { LogDestination } from './sink.ts';

/**
 * Shorter texts are names, which every request has: encoding a secret in all forms takes longer
 * than the rest of a request.
 */
const MIN_SENTENCE_CHARS = 48;

/** `logging.level`. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';
/** Fields of a line besides its message; values of any shape are copied and redacted. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Settings that may change while the log is open. */
export interface LogSettings {
  /** `logging.enabled`; false makes every call a no-op. */
  readonly isEnabled: boolean;
  readonly level: LogLevel;
  readonly includeRequestBody: boolean;
  readonly includeResponseBody: boolean;
  /** `advanced.enable_trace_logs`. */
  readonly includeTraces: boolean;
}

/** Parts that are logged only if the user asked for them. */
export type LogPart = 'request' | 'response' | 'traces';

export interface LogOptions extends LogSettings {
  readonly destination: LogDestination;
  readonly format: 'json' | 'text';
  readonly retentionDays: number;
  /** Size at which a log file is rotated early; default 32 MiB. */
  readonly rotateAtBytes?: number;
  readonly clock: Clock;
  /** Values that must never be logged: configured keys, tokens, passwords. */
  readonly secrets?: Iterable<string>;
}

export type Log = ReturnType<typeof createLog>;

const RANKS = Object.freeze({ debug: 20, info: 30, warning: 40, error: 50 });
const NAMES = Object.freeze({ debug: 'debug', info: 'info', warning: 'warn', error: 'error' });
const PARTS = Object.freeze({
  request: 'includeRequestBody',
  response: 'includeResponseBody',
  traces: 'includeTraces',
});
const MAX_WAITING = 1000;
/** Recent lines kept for new watchers; a longer line is a body or a trace, and is left out. */
const MAX_KEPT = 200;
const MAX_KEPT_CHARS = 4000;
/**
 * How much of a body is kept: more than the redactor passes, so that the redactor does the cutting
 * and marking.
 */
export const MAX_BODY_BYTES = 1024 * 1024;

interface Entry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields | undefined;
  readonly wallMs: number;
}

interface Writer {
  write(entry: Entry): void;
  readonly sink: LogSink;
}

/** Opens the log. Uses neither disk nor logger before the first line. */
export function createLog(options: LogOptions) {
  const redactor = createRedactor(options.secrets);
  const kept: string[] = [];
  const listeners = new Set<(line: string) => void>();
  function show(line: string): void {
    if (line.length > MAX_KEPT_CHARS) return;
    kept.push(line);
    if (kept.length > MAX_KEPT) kept.shift();
    for (const listener of listeners) listener(line);
  }
  let settings: LogSettings = options;
  let { level } = settings;
  let waiting: Entry[] = [];
  let dropped = 0;
  let isClosed = false;
  let writer: Writer | undefined;
  let opening: Promise<void> | undefined;

  async function open(): Promise<void> {
    try {
      const opened = await openWriter(options, redactor, show);
      for (const entry of waiting) opened.write(entry);
      writer = opened;
    } catch {
      // There is nowhere to report this: `dropped` in /health counts it.
      dropped += waiting.length;
      isClosed = true;
    }
    waiting = [];
  }

  function isEnabled(entryLevel: LogLevel): boolean {
    return settings.isEnabled && RANKS[entryLevel] >= RANKS[level];
  }

  function isPartEnabled(part: LogPart): boolean {
    return settings[PARTS[part]] && isEnabled('info');
  }

  function writeEntry(entryLevel: LogLevel, message: string, fields?: LogFields): void {
    if (!isEnabled(entryLevel)) return;
    const entry = { level: entryLevel, message, fields, wallMs: options.clock.wallMs() };
    if (isClosed || waiting.length >= MAX_WAITING) dropped += 1;
    else if (writer !== undefined) writer.write(entry);
    else {
      waiting.push({ ...entry, fields: redactor.value(fields) as LogFields | undefined });
      opening ??= open();
    }
  }

  return {
    /** The lowest level that is written. */
    get level(): LogLevel {
      return level;
    },
    /** Lines lost because the destination failed or was too slow. */
    get dropped(): number {
      return dropped + (writer?.sink.dropped ?? 0);
    },
    /** Applies reloaded settings, and ends `setDebug`. */
    configure(next: LogSettings): void {
      settings = next;
      ({ level } = next);
    },
    /**
     * `svc debug on|off`: sets level debug, or the configured one; info if that is debug itself.
     */
    setDebug(isOn: boolean): void {
      if (isOn) level = 'debug';
      else level = settings.level === 'debug' ? 'info' : settings.level;
    },
    /** True if a line of `level` would be written: check before building costly fields. */
    isEnabled,
    /** True if the user asked for such lines, which are written at level info. */
    wants: isPartEnabled,
    debug: (message: string, fields?: LogFields): void => writeEntry('debug', message, fields),
    info: (message: string, fields?: LogFields): void => writeEntry('info', message, fields),
    warning: (message: string, fields?: LogFields): void => writeEntry('warning', message, fields),
    error: (message: string, fields?: LogFields): void => writeEntry('error', message, fields),
    /**
     * Logs a body if the user asked for bodies of this direction, cut at 16 Ki characters; `bytes`
     * may be the beginning of a body of `sizeBytes`. A body that is not text is only mentioned.
     * `secrets` are the request's own, which the response may repeat.
     */
    body(
      direction: 'request' | 'response',
      requestId: string,
      bytes: Uint8Array,
      sizeBytes: number = bytes.byteLength,
      secrets: readonly string[] = [],
    ): void {
      if (!isPartEnabled(direction)) return;
      const text = redactor.without(textOf(bytes.subarray(0, MAX_BODY_BYTES)), secrets);
      writeEntry('info', `${direction} body`, { requestId, sizeBytes, text });
    },
    /**
     * Calls `listener` with every line from now on, as redacted JSON, and with recent lines at
     * once. The returned function stops it.
     */
    watch(listener: (line: string) => void): () => void {
      for (const line of kept) listener(line);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /**
     * Returns `text` for storage elsewhere: redacted like a log line, and without `secrets`, which
     * are a request's own.
     */
    clean(text: string, secrets: readonly string[]): string {
      if (text.length >= MIN_SENTENCE_CHARS) return redactor.text(redactor.without(text, secrets));
      let rest = text;
      for (const secret of secrets) rest = rest.replaceAll(secret, REDACTED);
      return redactor.text(rest);
    },
    /** Adds a secret, also for lines that are still queued. */
    addSecret: (value: string): void => redactor.addSecret(value),
    /** Writes queued lines and closes the file. Later lines are dropped. */
    async close(): Promise<void> {
      await opening;
      isClosed = true;
      await writer?.sink.close();
    },
  };
}

async function openWriter(
  options: LogOptions,
  redactor: Redactor,
  show: (line: string) => void,
): Promise<Writer> {
  const [{ pino }, sink] = await Promise.all([import('pino'), openSink(options)]);
  const logger: Logger = pino(
    {
      level: 'debug',
      base: null,
      timestamp: false,
      formatters: { level: (label) => ({ level: label === 'warn' ? 'warning' : label }) },
    },
    {
      write(line) {
        const json = visibleJson(line);
        sink.write(options.format === 'text' ? toTextLine(line) : json);
        show(json);
      },
    },
  );
  return {
    sink,
    write({ level, message, fields, wallMs }) {
      const method: Level = NAMES[level];
      const time = new Date(wallMs).toISOString();
      logger[method]({ time, ...toFields(redactor.value(fields)) }, redactor.text(message));
    },
  };
}

/** The bytes may be cut inside a character. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return '[not text]';
  }
}

/** Fields must not overwrite the line's own time, level or message. */
function toFields(copied: unknown): object {
  if (typeof copied !== 'object' || copied === null) return {};
  const { time, level, msg, ...fields } = copied as Record<string, unknown>;
  const posing = Object.entries({ time, level, msg }).filter(([, value]) => value !== undefined);
  return { ...fields, ...Object.fromEntries(posing.map(([name, value]) => [`${name}_`, value])) };
}
