/**
 * Takes `100 Continue` out of what a provider sends. RFC 9110 §15.2 lets a server send it unasked
 * and has clients skip it; our HTTP library takes it for a broken server, and skips only the other
 * interim answers. So they are taken out where bytes enter a socket: by `push`, as those of any
 * stream of Node do.
 */
import type { Socket } from 'node:net';

const INTERIM = /^HTTP\/1\.\d 1\d\d/;
const CONTINUE = /^HTTP\/1\.\d 100[ \r]/;
/** As long as a status line must be to be recognised. */
const STATUS_CHARS = 'HTTP/1.1 100 '.length;
const STATUS_CLASS_AT = 'HTTP/1.1 '.length;
const INFORMATIONAL = 0x31;
const HEAD_END = '\r\n\r\n';
/** A longer interim head is left to the library, which refuses it. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Makes `socket` skip interim `100` heads in front of each answer. Returns the same socket. */
export function skipContinue(socket: Socket): Socket {
  const push = socket.push.bind(socket);
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  /** True from a request until the first bytes of its final answer. */
  let isHeadDue = false;
  let held: Buffer | undefined;
  socket.write = (...given: unknown[]): boolean => {
    isHeadDue = true;
    return write(...given);
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
    // Where all of it is held more is wanted.
    return passed.length === 0 || push(passed);
  };
  return socket;
}

/** True of nearly every answer: it does not begin with an interim head, as one byte shows. */
function isFinal(bytes: Buffer): boolean {
  return bytes.length >= STATUS_CHARS && bytes[STATUS_CLASS_AT] !== INFORMATIONAL;
}

/** What may be passed on; `rest` is where an interim head is not complete, or may still begin. */
function skip(bytes: Buffer): { readonly passed: Buffer; readonly rest?: Buffer } {
  const kept: Buffer[] = [];
  let at = 0;
  for (;;) {
    const status = bytes.toString('latin1', at, at + STATUS_CHARS);
    const isShort = status.length < STATUS_CHARS && 'HTTP/1.'.startsWith(status.slice(0, 7));
    const isInterim = INTERIM.test(status) && !status.startsWith(' 101', 8);
    if (!isShort && !isInterim) break;
    const end = bytes.indexOf(HEAD_END, at);
    if (end < 0 && bytes.length - at > MAX_HEAD_BYTES) break;
    if (end < 0) return { passed: Buffer.concat(kept), rest: bytes.subarray(at) };
    const next = end + HEAD_END.length;
    if (!CONTINUE.test(status)) kept.push(bytes.subarray(at, next));
    at = next;
    if (at === bytes.length) return { passed: Buffer.concat(kept), rest: bytes.subarray(at) };
  }
  return { passed: at === 0 ? bytes : Buffer.concat([...kept, bytes.subarray(at)]) };
}
