/** Makes external text safe to display: it must not control the terminal or forge a line. */

/** C0 without the tab, DEL, C1, and the characters that reverse text direction. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSAFE = /[\0-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** The subset that JSON does not escape. */
// oxlint-disable-next-line no-control-regex -- likewise
const UNSAFE_IN_JSON = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Returns `text` with every control character except the tab written as `\x1b` or `\u202e`. */
export function visible(text: string): string {
  return text.replace(UNSAFE, (found) => {
    const code = found.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : unicodeEscape(found);
  });
}

/** Returns JSON text with the same value and no control characters except its own line ends. */
export function visibleJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, unicodeEscape);
}

function unicodeEscape(found: string): string {
  return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
