/** Collects the record of one run in progress: its exchanges with providers, and its response. */
import { isSvcError } from '../../engine/index.ts';
import type { RunInfo } from '../../engine/index.ts';
import { capturedRow } from '../../stages/captures/record.ts';
import type {
  CaptureRecord,
  CapturedAnswer,
  CapturedAttempt,
  CapturedFailure,
  CapturedResponse,
  CapturedRow,
  TimedBytes,
} from '../../stages/captures/record.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import type { HeadFrame } from '../../stages/model/frame.ts';
import type {
  UpstreamCall,
  UpstreamRequest,
  UpstreamResponse,
} from '../../stages/providers/upstream.ts';

/** Room for a request of the largest allowed size, its copy upstream, and a response. */
const MAX_BYTES = 96 * 1024 * 1024;

/** Memory used by all recorders together, and its limit. */
export interface RecordingMemory {
  usedBytes: number;
  readonly maxBytes: number;
}

interface Pieces {
  readonly pieces: Buffer[];
  readonly atMs: number[];
}

/** A response being recorded, in chunks. */
interface OpenResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly headMs: number;
  readonly body: Pieces;
  end: CapturedResponse['end'];
  endMs: number;
  failure: CapturedFailure | null;
}

interface OpenAttempt {
  readonly call: UpstreamCall;
  readonly request: UpstreamRequest;
  readonly startedMs: number;
  response: OpenResponse | undefined;
  failure: CapturedFailure | null;
}

export class RunRecorder {
  readonly #body: BodyFrame;
  readonly #run: RunInfo;
  readonly #attempts: OpenAttempt[] = [];
  readonly #sent: Pieces = { pieces: [], atMs: [] };
  readonly #ownSecrets: readonly string[];
  readonly #room: RecordingMemory;
  #head: CapturedAnswer['head'] = null;
  #end: CapturedAnswer['end'] = 'cancelled';
  #endMs = 0;
  #failure: CapturedFailure | null = null;
  #sizeBytes = 0;
  #gaveUp: string | undefined;

  /** `ownSecrets` are the request's own credentials. */
  constructor(body: BodyFrame, run: RunInfo, ownSecrets: readonly string[], room: RecordingMemory) {
    this.#body = body;
    this.#run = run;
    this.#ownSecrets = ownSecrets;
    this.#room = room;
    this.#claim(body.wireBytes.length);
  }

  get id(): string {
    return this.#run.id;
  }

  get ownSecrets(): readonly string[] {
    return this.#ownSecrets;
  }

  /** Why recording was given up; undefined otherwise. */
  get gaveUp(): string | undefined {
    return this.#gaveUp;
  }

  /** Releases its memory. */
  release(): void {
    this.#room.usedBytes -= this.#sizeBytes;
    this.#sizeBytes = 0;
  }

  /** False if there is no room: the record is then given up. */
  #claim(bytes: number): boolean {
    if (this.#gaveUp !== undefined) return false;
    this.#sizeBytes += bytes;
    this.#room.usedBytes += bytes;
    if (this.#sizeBytes > MAX_BYTES) this.#gaveUp = 'the run holds too many bytes';
    else if (this.#room.usedBytes > this.#room.maxBytes)
      this.#gaveUp = 'the runs that are recorded hold too many bytes';
    if (this.#gaveUp === undefined) return true;
    this.release();
    for (const { pieces } of [this.#sent, ...this.#bodies()]) pieces.length = 0;
    return false;
  }

  #bodies(): Pieces[] {
    return this.#attempts.flatMap(({ response }) =>
      response === undefined ? [] : [response.body],
    );
  }

  #nowMs(): number {
    return this.#run.clock.monotonicMs() - this.#run.startedMs;
  }

  #add(to: Pieces, bytes: Buffer): void {
    if (!this.#claim(bytes.length)) return;
    to.pieces.push(bytes);
    to.atMs.push(this.#nowMs());
  }

  /** Records a request to a provider; the returned recorder receives the response. */
  attempt(request: UpstreamRequest, call: UpstreamCall): AttemptRecorder {
    const open: OpenAttempt = {
      call,
      request,
      startedMs: this.#nowMs(),
      response: undefined,
      failure: null,
    };
    if (this.#claim(request.body?.length ?? 0)) this.#attempts.push(open);
    return {
      head: ({ status, headers }) => {
        const headMs = this.#nowMs();
        const body = { pieces: [], atMs: [] };
        const end = 'cancelled';
        open.response = { status, headers, headMs, body, end, endMs: headMs, failure: null };
      },
      piece: (bytes) => {
        if (open.response !== undefined) this.#add(open.response.body, bytes);
      },
      end: (ending, thrown) => {
        if (open.response === undefined) open.failure = toFailure(thrown);
        else {
          open.response.end = ending;
          open.response.endMs = this.#nowMs();
          open.response.failure = ending === 'broken' ? toFailure(thrown) : null;
        }
      },
    };
  }

  head({ status, headers, streaming }: HeadFrame): void {
    this.#head = { status, headers, streaming, atMs: this.#nowMs() };
  }

  chunk(bytes: Buffer): void {
    this.#add(this.#sent, bytes);
  }

  /** Ends the response; without this call its client left. */
  end(ending: 'complete' | 'failed', thrown?: unknown): void {
    this.#end = ending;
    this.#endMs = this.#nowMs();
    this.#failure = ending === 'failed' ? toFailure(thrown) : null;
  }

  /** Returns the whole record, with the ledger row of the run. */
  record(row: CapturedRow): CaptureRecord {
    const { method, target, headers, wireBytes, untouchable } = this.#body;
    return {
      id: this.#run.id,
      startedMs: this.#run.startedWallMs,
      request: { method, target, headers, body: wireBytes, untouchable: untouchable ?? null },
      attempts: this.#attempts.map(toAttempt),
      answer: {
        head: this.#head,
        body: toTimed(this.#sent),
        end: this.#end,
        endMs: this.#end === 'cancelled' ? this.#nowMs() : this.#endMs,
        failure: this.#failure,
      },
      row: capturedRow(row),
    };
  }
}

/** Receives the events of one exchange. */
export interface AttemptRecorder {
  head(response: Pick<UpstreamResponse, 'status' | 'headers'>): void;
  piece(bytes: Buffer): void;
  end(ending: CapturedResponse['end'], thrown?: unknown): void;
}

function toAttempt({ call, request, startedMs, response, failure }: OpenAttempt): CapturedAttempt {
  const { origin, path, method, headers, body } = request;
  return {
    attempt: call.attempt,
    provider: call.provider,
    startedMs,
    origin,
    path,
    method,
    headers,
    body: body ?? null,
    response: response === undefined ? null : { ...response, body: toTimed(response.body) },
    failure,
  };
}

function toTimed({ pieces, atMs }: Pieces): TimedBytes {
  const [first] = pieces;
  const bytes = first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
  return { bytes, sizes: pieces.map(({ length }) => length), atMs };
}

function toFailure(thrown: unknown): CapturedFailure {
  if (isSvcError(thrown))
    return { kind: thrown.kind, code: thrown.code ?? null, message: thrown.message };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { kind: 'internal', code: null, message };
}
