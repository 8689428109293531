/**
 * Encryption of cached responses in Redis (AES-256-GCM), with a key derived from the cache key. The
 * cache key covers the credential and the whole request and never leaves the process, so a reader
 * of Redis cannot decrypt the response to a request that carried a credential, and a writer cannot
 * forge one.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts `bytes` for holders of `answerKey`. */
export function seal(bytes: Buffer, answerKey: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(answerKey), nonce, { authTagLength: TAG_BYTES });
  const sealed = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]);
}

/** Decrypts bytes sealed for `answerKey`; undefined for anything else. */
export function unseal(sealed: Buffer, answerKey: string): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const end = sealed.length - TAG_BYTES;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const cipher = createDecipheriv(CIPHER, keyOf(answerKey), nonce, { authTagLength: TAG_BYTES });
  cipher.setAuthTag(sealed.subarray(end));
  try {
    return Buffer.concat([cipher.update(sealed.subarray(NONCE_BYTES, end)), cipher.final()]);
  } catch {
    return undefined;
  }
}

/** Not the name under which it is stored, which anyone with access to Redis can read. */
function keyOf(answerKey: string): Buffer {
  return createHash('sha256').update(`svc answer\0${answerKey}`).digest();
}
