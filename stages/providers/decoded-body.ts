/** An answer whose bytes are read here, of a provider that encoded it although it was asked not to. */
import { Bell, Source } from '../../engine/index.ts';
import { undecodable } from '../model/errors.ts';
import { headerValue, withoutHeaders } from '../model/headers.ts';
import { canDecode, createDecoder } from '../wire/decode.ts';
import type { Decoder } from '../wire/decode.ts';
import type { UpstreamResponse } from './upstream.ts';

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

class DecodedBody extends Source<Buffer> {
  readonly #body: Source<Buffer>;
  readonly #encoding: string;
  readonly #decoder: Decoder;
  readonly #bell = new Bell();
  #ready: Buffer[] = [];
  #isReading = false;
  #isOver = false;
  #thrown: { readonly thrown: unknown } | undefined;

  constructor(body: Source<Buffer>, encoding: string) {
    super();
    this.#body = body;
    this.#encoding = encoding;
    this.#decoder = createDecoder(encoding, (bytes) => {
      this.#ready.push(bytes);
      this.#bell.ring();
    });
  }

  poll(): Buffer | null | undefined {
    if (this.#ready.length > 0) return Buffer.concat(this.#ready.splice(0));
    if (this.#thrown !== undefined) throw this.#thrown.thrown;
    return this.#isOver ? undefined : null;
  }

  wait(): Promise<void> {
    const isThere = this.#ready.length > 0 || this.#isOver || this.#thrown !== undefined;
    if (isThere) return Promise.resolve();
    // Before anything is read, which may ring at once.
    const rung = this.#bell.wait();
    if (!this.#isReading) void this.#readOn();
    return rung;
  }

  cancel(reason: unknown): void {
    this.stop();
    this.#body.cancel(reason);
  }

  /** Reads nothing more of the body, which goes on with somebody else. */
  stop(): void {
    this.#isOver = true;
    this.#ready = [];
    this.#bell.ring();
  }

  /** Hands the next piece to the decoder: what was pushed comes out in its own time, perhaps before the next piece comes in. */
  async #readOn(): Promise<void> {
    this.#isReading = true;
    try {
      let piece = this.#body.poll();
      while (piece === null && !this.#isOver) {
        await this.#body.wait();
        if (!this.#isOver) piece = this.#body.poll();
      }
      if (this.#isOver) return;
      if (piece !== undefined && piece !== null) this.#decoder.push(piece);
      else if (await this.#decoder.end()) this.#isOver = true;
      else throw undecodable(this.#encoding);
    } catch (thrown) {
      this.#thrown = { thrown };
    } finally {
      this.#isReading = false;
      this.#bell.ring();
    }
  }
}

/** A body that is read decoded, and then goes on as it came. */
export interface DecodedCopy {
  readonly decoded: Source<Buffer>;
  /** The encoded pieces that were read so far. */
  readonly pieces: readonly Buffer[];
  /** The encoded body from its beginning. The copy ends here. */
  whole(): Source<Buffer>;
}

/** A copy to look into; undefined if the answer has no encoding that is read here. */
export function decodedCopy(response: UpstreamResponse): DecodedCopy | undefined {
  const encoding = readEncoding(response);
  if (encoding === undefined) return undefined;
  const { body } = response;
  const pieces: Buffer[] = [];
  const decoded = new DecodedBody(
    body.tap({ value: (piece) => void pieces.push(piece) }),
    encoding,
  );
  return {
    decoded,
    pieces,
    whole() {
      decoded.stop();
      return body.prepend(pieces);
    },
  };
}
