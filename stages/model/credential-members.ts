/**
 * Credentials that no shape tells and that only the place tells: members of a JSON text whose name says
 * what they hold, and all header fields of a tool server (`authorization_token` of `mcp_servers`,
 * `authorization` and `headers` of a tool of type `mcp`). They are in the body of a request.
 */
import type { Replacement } from './credential-shapes.ts';

/** Nearly all texts have none of these, and end here. */
const HINT = /"(?:headers|[\w-]*(?:authorization|_token|api[-_]?key|secret|passw))/i;

const STRING = String.raw`"((?:[^"\\]|\\[^])*)`;
const NAMES =
  'authorization(?:_token)?|(?:access|refresh|auth|bearer|session)_token|(?:x-)?api[-_]?key|client_secret|secret|password';
/** A text may be cut off within the value, so its closing quote is not waited for. */
const MEMBER = new RegExp(String.raw`("(?:${NAMES})"\s*:\s*)${STRING}`, 'gi');
const FIELDS = new RegExp(
  String.raw`"headers"\s*:\s*\{(?:\s*"(?:[^"\\]|\\[^])*"\s*:\s*"(?:[^"\\]|\\[^])*"\s*,?)*(?:\s*"(?:[^"\\]|\\[^])*"\s*:\s*"(?:[^"\\]|\\[^])*)?`,
  'gi',
);
const FIELD = new RegExp(String.raw`(:\s*)${STRING}`, 'g');
/** The definition of a tool may describe a parameter `headers`. */
const IS_SCHEMA = /"(?:type|\$ref)"\s*:/;
/** What says how a credential is sent is none. */
const SCHEME = /^(?:Bearer|Basic|Token) +/i;

/** `text` with `replacement` for the value of each such member; lengths stay where the replacement keeps them. */
export function withoutNamedCredentials(text: string, replacement: Replacement): string {
  if (!HINT.test(text)) return text;
  const put = (_: string, before: string, value: string): string => {
    const [scheme = ''] = SCHEME.exec(value) ?? [];
    const found = value.slice(scheme.length);
    const instead = typeof replacement === 'string' ? replacement : replacement(found);
    return `${before}"${scheme}${found === '' ? '' : instead}`;
  };
  return text
    .replace(FIELDS, (fields) => (IS_SCHEMA.test(fields) ? fields : fields.replace(FIELD, put)))
    .replace(MEMBER, put);
}
