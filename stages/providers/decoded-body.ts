/** An answer whose bytes are read here, of a provider that encoded it although it was asked not to. */
import { undecodable } from '../model/errors.ts';
import { headerValue, withoutHeaders } from '../model/headers.ts';
import { canDecode, createDecoder } from '../wire/decode.ts';
import type { Decoder } from '../wire/decode.ts';
import type { UpstreamBody, UpstreamResponse } from './upstream.ts';

/** The same answer without its `Content-Encoding`; as it is if it has none, or one that nobody here reads. */
export function decodedResponse(response: UpstreamResponse): UpstreamResponse {
  const encoding = readEncoding(response);
  if (encoding === undefined) return response;
  return {
    status: response.status,
    headers: withoutHeaders(
      response.headers,
      (name) => name === 'content-encoding' || name === 'content-length',
    ),
    body: new DecodedBody(response.body, encoding),
  };
}

/** The `Content-Encoding` of an answer, if it is one that is read here. */
function readEncoding({ headers }: UpstreamResponse): string | undefined {
  const encoding = headerValue(headers, 'content-encoding');
  return encoding !== undefined && canDecode(encoding) ? encoding : undefined;
}

class DecodedBody implements UpstreamBody {
  readonly #body: UpstreamBody;
  readonly #encoding: string;
  readonly #decoder: Decoder;
  #ready: Buffer[] = [];
  #reading: Promise<void> | undefined;
  #ring: (() => void) | undefined;
  #isOver = false;

  constructor(body: UpstreamBody, encoding: string) {
    this.#body = body;
    this.#encoding = encoding;
    this.#decoder = createDecoder(encoding, (bytes) => {
      this.#ready.push(bytes);
      this.#ring?.();
    });
  }

  async read(): Promise<Buffer | undefined> {
    while (this.#ready.length === 0 && !this.#isOver) {
      // What was pushed comes out in its own time, perhaps before the next piece comes in.
      const rang = new Promise<void>((resolve) => {
        this.#ring = resolve;
      });
      this.#reading ??= this.#readOn();
      await Promise.race([this.#reading, rang]);
    }
    if (this.#ready.length === 0) return undefined;
    return Buffer.concat(this.#ready.splice(0));
  }

  poll(): Buffer | null {
    return this.#ready.length > 0 ? Buffer.concat(this.#ready.splice(0)) : null;
  }

  cancel(reason: unknown): void {
    this.#isOver = true;
    this.#ready = [];
    this.#body.cancel(reason);
  }

  async #readOn(): Promise<void> {
    const piece = await this.#body.read();
    if (piece === undefined) {
      const isWhole = await this.#decoder.end();
      if (!isWhole) throw undecodable(this.#encoding);
      this.#isOver = true;
      return;
    }
    this.#decoder.push(piece);
    this.#reading = undefined;
  }
}

/** A body that is read decoded, and then goes on as it came. */
export interface DecodedCopy {
  readonly decoded: UpstreamBody;
  /** The encoded pieces that were read so far. */
  readonly pieces: readonly Buffer[];
  /** The encoded body from its beginning. Nobody may read the copy any more. */
  whole(): UpstreamBody;
}

/** A copy to look into; undefined if the answer has no encoding that is read here. */
export function decodedCopy(response: UpstreamResponse): DecodedCopy | undefined {
  const encoding = readEncoding(response);
  if (encoding === undefined) return undefined;
  const { body } = response;
  const pieces: Buffer[] = [];
  let reading: Promise<Buffer | undefined> | undefined;
  const recorded: UpstreamBody = {
    read() {
      reading = body.read().then((piece) => {
        reading = undefined;
        if (piece !== undefined) pieces.push(piece);
        return piece;
      });
      return reading;
    },
    poll: () => null,
    cancel: (reason) => body.cancel(reason),
  };
  return {
    decoded: new DecodedBody(recorded, encoding),
    pieces,
    whole: () => ({
      async read() {
        // A piece that the copy still waits for is recorded when it comes.
        if (pieces.length === 0 && reading !== undefined && (await reading) === undefined)
          return undefined;
        return pieces.shift() ?? body.read();
      },
      poll: () => pieces.shift() ?? (reading === undefined ? body.poll() : null),
      cancel: (reason) => body.cancel(reason),
    }),
  };
}
