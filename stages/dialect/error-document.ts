/**
 * An answer with status 200 whose document is an error, as providers send that stand before other
 * providers: the status was on its way before the other one failed.
 */
import { isObject, parseJson } from './json-kind.ts';

/** Errors are short; what is longer was an answer. */
const MAX_BYTES = 64 * 1024;
const MEMBER = Buffer.from('"error"');
/** What may stand behind the name of a member that says something. Answers of some dialects have `"error": null`. */
const HAS_CONTENT = /^\s*:\s*(?:[{["1-9]|true)/;
/** Where the dialects have what was asked for. */
const CONTENT = ['choices', 'content', 'candidates', 'output', 'input_tokens', 'totalTokens'];

/** True for a JSON document that has an error at its top and nothing of an answer. */
export function isErrorDocument(bytes: Buffer): boolean {
  if (bytes.length > MAX_BYTES || !mentionsError(bytes)) return false;
  const value = parseJson(bytes.toString('utf8'));
  const document: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isObject(document)) return false;
  const { error } = document;
  return Boolean(error) && CONTENT.every((name) => isEmpty(document[name]));
}

/** Parsing every answer would be dear; this is not. */
function mentionsError(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(MEMBER); at >= 0; at = bytes.indexOf(MEMBER, at + 1)) {
    const behind = at + MEMBER.length;
    if (HAS_CONTENT.test(bytes.toString('latin1', behind, behind + 32))) return true;
  }
  return false;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
