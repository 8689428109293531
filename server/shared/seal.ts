/**
 * Cached answers as they lie in Redis: encrypted and authenticated (AES-256-GCM) with a key made of
 * the answer's own. That one covers the credential and the whole request and never leaves the
 * process, so whoever reads Redis cannot read the answer to a request that went out with a key,
 * and whoever writes there cannot make one up.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `bytes` sealed for whoever knows `answerKey`. */
export function seal(bytes: Buffer, answerKey: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(answerKey), nonce, { authTagLength: TAG_BYTES });
  const sealed = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]);
}

/** What was sealed for `answerKey`; undefined for anything else. */
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

/** Not the name under which it lies there: that is read by everybody. */
function keyOf(answerKey: string): Buffer {
  return createHash('sha256').update(`svc answer\0${answerKey}`).digest();
}
