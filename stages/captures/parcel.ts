/**
 * A record on its way to the thread that writes it, as bytes in shared memory. A record made of
 * objects would live as long as it waits: long enough to be moved to V8's old generation, which
 * then held 60 MB of such garbage during a rush of small requests.
 */
import { decode, encode, ExtensionCodec } from '@msgpack/msgpack';
import type { CaptureLimits } from './files.ts';
import type { CaptureRecord } from './record.ts';
import type { CaptureSecrets } from './scrub.ts';
import type { Lease } from './shared-memory.ts';

/** The work for the thread. */
export interface CaptureJob {
  readonly record: CaptureRecord;
  readonly secrets: CaptureSecrets;
  readonly limits: CaptureLimits;
}

/** A job as bytes. */
export interface Parcel {
  /**
   * The job as msgpack, with an extension for each body: its index in `bodies`, where one that was
   * sent unchanged is only once.
   */
  readonly packed: Uint8Array;
  readonly bodies: readonly Uint8Array[];
}

/** The extension type of a body. */
const BODY = 0;

/** The context are the bodies, in their order. */
const codec = new ExtensionCodec<Uint8Array[]>();
codec.register({
  type: BODY,
  encode(value, bodies) {
    if (!(value instanceof Uint8Array)) return null;
    const known = bodies.indexOf(value);
    return encode(known >= 0 ? known : bodies.push(value) - 1);
  },
  decode: (index, _type, bodies) => bodies[Number(decode(index))],
});

/** Copies a job by `copy`. */
export function packJob(job: CaptureJob, copy: Lease['copy']): Parcel {
  const bodies: Uint8Array[] = [];
  const packed = encode(job, { extensionCodec: codec, context: bodies });
  return { packed: copy([packed]), bodies: bodies.map((body) => copy([body])) };
}

/** Returns the job; its bodies are still those of the parcel. */
export function unpackJob({ packed, bodies }: Parcel): CaptureJob {
  // A copy, since a text cannot be decoded from shared memory everywhere.
  const bytes = Buffer.from(packed);
  // A parcel never leaves the process, so it is what `packJob` was given.
  return decode(bytes, { extensionCodec: codec, context: [...bodies] }) as CaptureJob;
}

/** Memory of a waiting job besides its bytes: 1 KB measured on Node 20, and its garbage. */
const OVERHEAD_BYTES = 4 * 1024;

/** Returns the memory that a parcel takes until it is stored, in bytes. */
export function memoryOf({ packed, bodies }: Parcel): number {
  return bodies.reduce((sum, { length }) => sum + length, packed.length + OVERHEAD_BYTES);
}
