/** Masks the secrets in a config file for display in a diff. */
import { createHash } from 'node:crypto';
import { isAlias, isPair, isScalar, parseDocument, visit } from 'yaml';
import type { Scalar } from 'yaml';
import { withoutCredentials } from '../../stages/model/credential-shapes.ts';

/** Members whose values are secrets, including maps of headers, any of which may be one. */
const SECRET_NAME =
  /(?:key|token|secret|password|webhook)_?\d*$|^(?:authorization|cookie|headers)$/i;
/** User and password in an address, such as that of a database or of a proxy. */
const URL_CREDENTIALS = /(:\/\/)([^/?#\s]+)@/g;

/**
 * Returns `text` with each secret replaced by a short hash, so that a diff shows that it changed
 * without showing it. Secrets are found by the names above, in block and flow style, and anywhere,
 * including comments, by the formats of known keys and in addresses.
 */
export function masked(text: string): string {
  const document = parseDocument(text);
  const secrets = new Set<Scalar>();
  visit(document, {
    Node(at, node, path) {
      const isSecret = path.some(
        (one) => isPair(one) && isScalar(one.key) && SECRET_NAME.test(String(one.key.value)),
      );
      if (at === 'key' || !isSecret) return;
      const scalar = isAlias(node) ? node.resolve(document) : node;
      if (isScalar(scalar) && !isReference(scalar.value)) secrets.add(scalar);
    },
  });
  let maskedText = '';
  let from = 0;
  const ranges = [...secrets].flatMap(({ range }) => (range ? [range] : []));
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    maskedText += text.slice(from, start) + nameOf(text.slice(start, end));
    // A block scalar ends after its last line break.
    from = text[end - 1] === '\n' ? end - 1 : end;
  }
  return withoutCredentials(maskedText + text.slice(from), nameOf).replaceAll(
    URL_CREDENTIALS,
    (_, scheme: string, secret: string) => `${scheme}${nameOf(secret)}@`,
  );
}

/** True for an empty value or a variable reference. */
function isReference(value: unknown): boolean {
  return value === null || (typeof value === 'string' && /^(?:\$\{\w+\})?$/.test(value));
}

function nameOf(secret: string): string {
  return `(secret ${createHash('sha256').update(secret).digest('hex').slice(0, 6)})`;
}
