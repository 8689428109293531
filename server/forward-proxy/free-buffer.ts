/**
 * Frees buffer memory at once. Node reads 64 KiB at a time, each chunk into its own memory, which
 * becomes free at the next garbage collection: a fast tunnel then cycles through tens of megabytes,
 * and the system must map each page again. That took a third of a tunnel's time.
 */
import { MessageChannel } from 'node:worker_threads';

/** Freeing less is not worth the call. */
const MIN_BYTES = 16 * 1024;

/**
 * Creates a function that frees a buffer's memory, after which the buffer has no bytes. It ignores
 * small buffers, and those that share their memory with others.
 */
export function createBufferRelease(): (bytes: Uint8Array) => void {
  let nowhere: MessagePort | undefined;
  return ({ buffer, byteOffset, byteLength }) => {
    if (byteLength < MIN_BYTES || byteOffset !== 0 || byteLength !== buffer.byteLength) return;
    if (!(buffer instanceof ArrayBuffer)) return;
    nowhere ??= closedPort();
    // Transferred data is taken from the sender (HTML §9.4.4, "transfer"); without a receiver it is
    // freed.
    nowhere.postMessage(undefined, [buffer]);
  };
}

type MessagePort = MessageChannel['port1'];

function closedPort(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}
