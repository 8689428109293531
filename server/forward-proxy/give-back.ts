/**
 * Memory that is given back at once. Node reads 64 KiB at a time, each into memory of its own, which
 * is free again when the next collection finds it: a fast tunnel then walks through tens of megabytes,
 * and for each page of them the system is asked anew. That took a third of the time of a tunnel.
 */
import { MessageChannel } from 'node:worker_threads';

/** Less is not worth the call. */
const LEAST_BYTES = 16 * 1024;

/**
 * A function that frees the memory of a buffer, which has no bytes any more then. It leaves alone
 * what is small, and what shares its memory with other buffers.
 */
export function createGiveBack(): (bytes: Uint8Array) => void {
  let nowhere: MessagePort | undefined;
  return ({ buffer, byteOffset, byteLength }) => {
    if (byteLength < LEAST_BYTES || byteOffset !== 0 || byteLength !== buffer.byteLength) return;
    if (!(buffer instanceof ArrayBuffer)) return;
    nowhere ??= closedPort();
    // What is sent is taken from the sender (HTML §9.4.4, "transfer"); nobody gets it, so it is freed.
    nowhere.postMessage(undefined, [buffer]);
  };
}

type MessagePort = MessageChannel['port1'];

function closedPort(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}
