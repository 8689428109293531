/**
 * An answer with status 200 whose document is an error, as sent by aggregators: the status was
 * already sent when their upstream provider failed.
 */
import { isObject, parseJson } from './json-kind.ts';

/** Errors are short; a longer document is an answer. */
const MAX_BYTES = 64 * 1024;
const MEMBER = Buffer.from('"error"');
/** What follows the name of a non-empty member. Answers of some dialects have `"error": null`. */
const HAS_CONTENT = /^\s*:\s*(?:[{["1-9]|true)/;
/** Where the dialects put the requested content. */
const CONTENT = ['choices', 'content', 'candidates', 'output', 'input_tokens', 'totalTokens'];

/** Returns true for a JSON document that has a top-level error and no answer content. */
export function isErrorDocument(bytes: Buffer): boolean {
  if (bytes.length > MAX_BYTES || !mentionsError(bytes)) return false;
  const value = parseJson(bytes.toString('utf8'));
  const document: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isObject(document)) return false;
  const { error } = document;
  return Boolean(error) && CONTENT.every((name) => isEmpty(document[name]));
}

/** Parsing every answer would be expensive; this is not. */
function mentionsError(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(MEMBER); at >= 0; at = bytes.indexOf(MEMBER, at + 1)) {
    const after = at + MEMBER.length;
    if (HAS_CONTENT.test(bytes.toString('latin1', after, after + 32))) return true;
  }
  return false;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
