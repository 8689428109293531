/** Texts from outside for the screen: nothing in them may command the terminal. */

/** `text` with every control character but the tab written as `\\x1b`. */
export function visible(text: string): string {
  let out = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 9 || (code >= 32 && code < 127) || code >= 160) continue;
    out += `${text.slice(from, at)}\\x${code.toString(16).padStart(2, '0')}`;
    from = at + 1;
  }
  return out + text.slice(from);
}
