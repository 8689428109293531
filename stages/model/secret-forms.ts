/**
 * The forms in which a known secret travels: plain, escaped in JSON or a URL, in hex, in base64.
 */

/** A shorter key occurs inside many words. */
const SHORT = 6;

/**
 * Returns sources of regular expressions that match `secrets` in each of their encodings in Latin-1
 * text, as which any bytes can be read.
 */
export function secretPatterns(secrets: readonly string[]): string[] {
  const patterns = secrets.filter((secret) => secret !== '').flatMap(secretForms);
  return [
    ...new Set(patterns.map(({ source }) => Buffer.from(source).toString('latin1'))),
  ].toSorted(byLength);
}

/** Sorts longest first, so that a secret which begins with another is removed whole. */
export function byLength(a: string, b: string): number {
  return b.length - a.length;
}

/** Returns sources of regular expressions that match `secret` in each of its forms. */
export function secretForms(secret: string): { source: string; length: number }[] {
  const bytes = Buffer.from(secret);
  const percent = encodeURIComponent(bytes.toString('utf8'));
  const texts = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    percent,
    percent.replaceAll(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()),
    percent.replaceAll('%20', '+'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64').replace(/(?<!=)=+$/, ''),
    bytes.toString('base64url'),
  ];
  if (bytes.length >= SHORT) {
    for (const core of base64Cores(bytes)) {
      texts.push(core, core.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  const unique = [...new Set(texts)].filter((text) => text !== '');
  return unique.map((text) => {
    const escaped = text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
    // A key of a few letters occurs inside many words, so it matches only as a whole word.
    const isShort = text.length < SHORT;
    return {
      length: text.length,
      source: isShort ? `(?<![A-Za-z0-9])${escaped}(?![A-Za-z0-9])` : escaped,
    };
  });
}

/**
 * Returns the characters that base64 of any text around `bytes` must contain, for each of the three
 * alignments.
 */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].map((shift) => {
    const coded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/(?<!=)=+$/, '');
    const bits = (shift + bytes.length) * 8;
    // From the first character without bits of the filler to the last one with only our own bits.
    return coded.slice(Math.ceil((shift * 8) / 6), Math.floor(bits / 6));
  });
}
