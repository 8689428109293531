/**
 * Removes `100 Continue` from what a provider sends. RFC 9110 §15.2 lets a server send it
 * unsolicited and requires clients to skip it; our HTTP library treats it as a protocol error, and
 * skips only the other interim responses. So they are removed where bytes enter a socket: in
 * `push`, as for any Node stream.
 */
import type { Socket } from 'node:net';

const INTERIM = /^HTTP\/1\.\d 1\d\d/;
const CONTINUE = /^HTTP\/1\.\d 100[ \r]/;
/** Length at which a status line can be recognised. */
const STATUS_CHARS = 'HTTP/1.1 100 '.length;
const STATUS_CLASS_AT = 'HTTP/1.1 '.length;
const INFORMATIONAL = 0x31;
const HEAD_END = '\r\n\r\n';
/** A longer interim head is left to the library, which refuses it. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Makes `socket` skip interim `100` heads before each response. Returns the same socket. */
export function skipContinue(socket: Socket): Socket {
  const push = socket.push.bind(socket);
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  /** True from a request until the first bytes of its final response. */
  let isHeadDue = false;
  let held: Buffer | undefined;
  socket.write = (...args: unknown[]): boolean => {
    isHeadDue = true;
    return write(...args);
  };
  socket.push = (bytes: Buffer | null): boolean => {
    if (!isHeadDue || bytes === null) return push(bytes);
    if (held === undefined && isFinal(bytes)) {
      isHeadDue = false;
      return push(bytes);
    }
    const { passed, rest } = skip(held === undefined ? bytes : Buffer.concat([held, bytes]));
    held = rest;
    isHeadDue = rest !== undefined;
    // If everything is held back, more is needed.
    return passed.length === 0 || push(passed);
  };
  return socket;
}

/**
 * Returns true for nearly every response: one byte shows that it does not begin with an interim
 * head.
 */
function isFinal(bytes: Buffer): boolean {
  return bytes.length >= STATUS_CHARS && bytes[STATUS_CLASS_AT] !== INFORMATIONAL;
}

/** Returns what may be passed on; `rest` is an incomplete or possible interim head. */
function skip(bytes: Buffer): { readonly passed: Buffer; readonly rest?: Buffer } {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const status = bytes.toString('latin1', at, at + STATUS_CHARS);
    const isShort = status.length < STATUS_CHARS && 'HTTP/1.'.startsWith(status.slice(0, 7));
    const isInterim = INTERIM.test(status) && !status.startsWith(' 101', 8);
    if (!isShort && !isInterim) break;
    const end = bytes.indexOf(HEAD_END, at);
    if (end < 0 && bytes.length - at > MAX_HEAD_BYTES) break;
    if (end < 0) return { passed: Buffer.concat(pieces), rest: bytes.subarray(at) };
    const next = end + HEAD_END.length;
    if (!CONTINUE.test(status)) pieces.push(bytes.subarray(at, next));
    at = next;
    if (at === bytes.length) return { passed: Buffer.concat(pieces), rest: bytes.subarray(at) };
  }
  return { passed: at === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(at)]) };
}
