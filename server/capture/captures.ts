/**
 * Decides which runs are recorded, follows them from the first byte to the ledger row, and stores
 * the record. A failure costs the record and never the request; the trace reports the result.
 */
import type { Clock, RunInfo } from '../../engine/index.ts';
import type { CaptureWriter } from '../../stages/captures/writer.ts';
import { CAPTURE_HEADER } from '../../stages/captures/files.ts';
import type { CaptureLimits } from '../../stages/captures/files.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import { headerSwitch } from '../../stages/model/headers.ts';
import { credentialsOf } from '../log/credentials.ts';
import { secretPatterns } from '../../stages/model/secret-forms.ts';
import { RunRecorder } from './recorder.ts';

/** Memory limit for all runs being recorded. */
const MAX_OPEN_BYTES = 256 * 1024 * 1024;
/** Shorter secrets occur in any text by chance; in credential headers they are masked anyway. */
const MIN_SECRET_CHARS = 8;
const PRUNE_EVERY_MS = 3600 * 1000;

export interface CaptureSettings extends CaptureLimits {
  readonly enabled: boolean;
  /** Keys and tokens of the configuration. */
  readonly secrets: readonly string[];
}

export type Captures = ReturnType<typeof createCaptures>;

export interface CapturesOptions {
  readonly writer: CaptureWriter;
  readonly clock: Clock;
  /** Called with the result of each record: `kept`, or `dropped: …`. */
  readonly report: (runId: string, what: string) => void;
  /** Called once with a reason for failure, until a record is kept again. */
  readonly onProblem: (reason: string) => void;
}

/**
 * A run being recorded; empty once it is finished. A Map replaces its table every few dozen
 * insertions, and V8 links the tables: a table in the old generation keeps everything that the
 * later ones held, in this case half of all requests, until the whole heap is collected.
 */
interface OpenRun {
  recorder: RunRecorder | undefined;
}

export function createCaptures(options: CapturesOptions) {
  const { writer, clock, report, onProblem } = options;
  const open = new Map<string, OpenRun>();
  const room = { usedBytes: 0, maxBytes: MAX_OPEN_BYTES };
  let settings: CaptureSettings = {
    enabled: false,
    maxBytes: 0,
    retentionMs: 0,
    secrets: [],
  };
  let cancelPrune: () => void = () => undefined;
  let known: readonly string[] = [];
  let dropped = 0;
  let failure: string | undefined;

  function isWanted({ headers }: BodyFrame): boolean {
    return headerSwitch(headers, CAPTURE_HEADER) ?? settings.enabled;
  }

  /** Old records are also deleted while nothing is recorded. */
  function prune(): void {
    cancelPrune();
    cancelPrune = clock.after(PRUNE_EVERY_MS, prune);
    try {
      writer.prune(settings);
    } catch (thrown) {
      onProblem(reasonOf(thrown));
    }
  }

  function drop(runId: string, reason: string): void {
    dropped += 1;
    report(runId, `dropped: ${reason}`);
    if (failure !== reason) onProblem(reason);
    failure = reason;
  }

  return {
    /** Records lost since the start. */
    get dropped(): number {
      return dropped;
    },
    /** Applies reloaded settings, and deletes records that are no longer allowed. */
    configure(next: CaptureSettings): void {
      settings = next;
      const long = next.secrets.filter(({ length }) => length >= MIN_SECRET_CHARS);
      known = secretPatterns(long);
      prune();
    },
    /** Returns a recorder for the run, if it is to be recorded. */
    begin(body: BodyFrame, run: RunInfo): RunRecorder | undefined {
      if (!isWanted(body)) return undefined;
      const recorder = new RunRecorder(body, run, credentialsOf(body.headers, body.target), room);
      open.set(run.id, { recorder });
      return recorder;
    },
    /** Returns the recorder of a run being recorded. */
    recorderOf: (runId: string): RunRecorder | undefined =>
      open.size === 0 ? undefined : open.get(runId)?.recorder,
    /** Completes the record of a run with its ledger row. */
    finish(row: LedgerRow): void {
      if (open.size === 0) return;
      const { id } = row;
      const run = open.get(id);
      const recorder = run?.recorder;
      if (run === undefined || recorder === undefined) return;
      run.recorder = undefined;
      open.delete(id);
      recorder.release();
      if (recorder.gaveUp !== undefined) return drop(id, recorder.gaveUp);
      if (!writer.hasRoom) return drop(id, 'too many captures are waiting for the disk');
      const own = recorder.ownSecrets.filter(({ length }) => length >= MIN_SECRET_CHARS);
      const secrets = { known: [...secretPatterns(own), ...known] };
      const { maxBytes, retentionMs } = settings;
      const record = recorder.record(row);
      writer.write({ record, secrets, limits: { maxBytes, retentionMs } }, (reason) => {
        if (reason !== null) return drop(id, reason);
        failure = undefined;
        report(id, 'kept');
      });
    },
    /** Resolves when all records are stored or refused. */
    flush: (): Promise<void> => writer.flush(),
    close(): Promise<void> {
      cancelPrune();
      return writer.close();
    },
  };
}
