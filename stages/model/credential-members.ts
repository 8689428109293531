/**
 * Credentials in a request body that are recognised by their place, not their shape: members of a
 * JSON text whose name says what they are, all headers of a tool server (`authorization_token` of
 * `mcp_servers`, `authorization` and `headers` of a tool of type `mcp`), and in URLs the password
 * and the parameters that grant access.
 */
import type { Replacement } from './credential-shapes.ts';

/** Nearly all texts have none of these, and end here. */
const HINT =
  /"(?:headers|[\w-]*(?:authorization|_token|api[-_]?key|secret|passw))|:\/\/[^\s/@"'\\]{1,512}@|[?&](?:key|token|secret|sig|signature|api[-_]?key|access_token|x-(?:amz|goog)-)/i;

const STRING = String.raw`"((?:[^"\\]|\\[^])*)`;
const NAMES =
  'authorization(?:_token)?|(?:access|refresh|auth|bearer|session)_token|(?:x-)?api[-_]?key|client_secret|secret|password';
/** The text may be cut off within the value, so no closing quote is required. */
const MEMBER = new RegExp(String.raw`("(?:${NAMES})"\s*:\s*)${STRING}`, 'gi');
/** The same in JSON text inside a JSON string, such as the arguments of a call. */
const INNER_MEMBER = new RegExp(
  String.raw`(\\"(?:${NAMES})\\"\s*:\s*\\")((?:[^"\\]|\\\\(?:\\.|[^\\]))*)`,
  'gi',
);
const FIELDS = new RegExp(
  String.raw`"headers"\s*:\s*\{(?:\s*"(?:[^"\\]|\\[^])*"\s*:\s*"(?:[^"\\]|\\[^])*"\s*,?)*(?:\s*"(?:[^"\\]|\\[^])*"\s*:\s*"(?:[^"\\]|\\[^])*)?`,
  'gi',
);
const FIELD = new RegExp(String.raw`(:\s*)${STRING}`, 'g');
const PASSWORD = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/@:"'\\]{0,256}:)([^\s/@"'\\]{1,512})(?=@)/gi;
const PARAMETER =
  /([?&](?:key|token|secret|sig|signature|api[-_]?key|access_token|x-(?:amz|goog)-(?:signature|security-token))=)([^&\s"'#\\]+)/gi;
/** The definition of a tool may describe a parameter `headers`. */
const IS_SCHEMA = /"(?:type|\$ref)"\s*:/;
/** The authentication scheme is not part of the credential. */
const SCHEME = /^(?:Bearer|Basic|Token) +/i;

/**
 * Replaces the value of each such member in `text` by `replacement`; lengths stay if the
 * replacement keeps them.
 */
export function withoutNamedCredentials(text: string, replacement: Replacement): string {
  if (!HINT.test(text)) return text;
  const instead = (found: string): string =>
    typeof replacement === 'string' ? replacement : replacement(found);
  const put = (_: string, before: string, value: string): string => {
    const [scheme = ''] = SCHEME.exec(value) ?? [];
    const found = value.slice(scheme.length);
    return `${before}"${scheme}${found === '' ? '' : instead(found)}`;
  };
  const putInAddress = (_: string, before: string, value: string) => before + instead(value);
  return text
    .replace(FIELDS, (fields) => (IS_SCHEMA.test(fields) ? fields : fields.replace(FIELD, put)))
    .replace(MEMBER, put)
    .replace(INNER_MEMBER, (_, before: string, value: string) =>
      value === '' ? before : before + instead(value),
    )
    .replace(PASSWORD, putInAddress)
    .replace(PARAMETER, putInAddress);
}
