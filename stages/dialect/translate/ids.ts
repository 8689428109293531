/**
 * Ids that cross dialects. Each dialect accepts only some; any other is replaced by a digest of
 * itself, so that an id maps to the same id in every turn, without a table.
 */
import { createHash } from 'node:crypto';
import type { TranslatableDialect } from '../canonical.ts';

const TOOL_ID: Record<TranslatableDialect, RegExp> = {
  messages: /^[a-zA-Z0-9_-]{1,64}$/,
  // The public chat endpoint refuses longer ones.
  chat: /^[\x21-\x7e]{1,40}$/,
  responses: /^[\x21-\x7e]{1,64}$/,
  generative: /^[\x21-\x7e]{1,128}$/,
};

/** Returns `id` as `dialect` accepts it. */
export function toolIdFor(dialect: TranslatableDialect, id: string): string {
  if (TOOL_ID[dialect].test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

/**
 * Returns a tool name that `accepted` allows: the name itself, or its readable part followed by a
 * digest, the same in every turn. Every dialect accepts the result.
 */
export function toolNameFor(accepted: RegExp, name: string): string {
  if (accepted.test(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  const readable = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 50);
  return /^[a-zA-Z_]/.test(readable) ? `${readable}_${digest}` : `_${readable}_${digest}`;
}

/** Returns `id` under a dialect's own prefix (`msg_`, `chatcmpl-`…); a `random` one if empty. */
export function answerId(prefix: string, id: string, random: () => string): string {
  if (id === '') return `${prefix}${random()}`;
  return id.startsWith(prefix) ? id : `${prefix}${id}`;
}
