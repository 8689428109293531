/**
 * Finds credentials in settings. A value there is literal: the text after a password's name is the
 * password, even a plain word. Code and prose merely mention passwords, so fewer forms count there:
 * an environment variable, a tag, a quoted word.
 *
 * Every name is found in one pass, and only a few hundred characters around it are inspected, so
 * that the work is always linear in the text's length.
 */
import { isLiteral, PASSWORD_HINT, PASSWORD_NAME } from './stand-in.ts';

/** Files whose values are literal. */
const SETTINGS_NAME =
  /(?:^|\/)(?:[^/]*\.(?:json[5cl]?|ya?ml|toml|ini|env|cfg|cnf|conf|config|properties|props|xml|plist|service|tf|hcl|sh|bash|zsh|fish|ps1|bat|cmd|reg)|\.[^/.]+|[^/.]*rc|(?:docker|container)file[^/]*|compose[^/]*)$/i;
/** Files among those in which a setting is a name, a space and a value. */
const BLANK_SETTINGS_NAME = /(?:^|\/)(?:[^/]*\.(?:conf|cfg|cnf)|\.[^/.]+|[^/.]*rc)$/i;

/** Notes written by hand, and text without a file name. */
const NOTE_NAME = /^$|(?:^|\/)[^/.]+$|\.(?:mdx?|markdown|te?xt|rst|adoc|org)$/i;

const KEY_NAME = '(?:api|access|auth|private|encryption|signing|master)[_.-]?(?:key|token)';
const NAME = new RegExp(
  `(?:${PASSWORD_NAME}s?\\d?|secret(?:[_.-]?key(?:[_.-]?base)?)?|${KEY_NAME}|token)(?![a-z])`,
  'gi',
);
const OTHER_HINT = /secret|token|[_.-]key/i;
const IS_PASSWORD = new RegExp(`^${PASSWORD_NAME}`, 'i');
/** A secret qualified by its owner; a bare "secret" may just be the name of one. */
const OWNED_SECRET =
  /(?:client|jwt|app|application|session|cookie|auth|shared|api|webhook|signing|access|refresh|consumer|hmac|encryption|csrf|token|hash|oauth|master|service|bot|signature)[_.-]?secret$|secret[_.-]?key(?:[_.-]?base)?$/i;
/** Minimum length of a key or token, even of one made up by hand. */
const MIN_KEY_CHARS = 8;

const CHARS_BEFORE = 100;
const CHARS_AFTER = 200;
/** Characters that may directly follow a name with a value. */
const AFTER_NAME = /["'\\\]\s=:：(<>,]/;

/** A name and its context: its line up to the name, and the text after it. */
interface NamedContext {
  /** The last word of the name. */
  readonly word: string;
  /** The full name, as in `db.root_password`. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Returns true when `text` reveals a credential as a setting. `path` is its file, if any, which
 * shows its type.
 */
export function hasSetting(text: string, path: string): boolean {
  if (!PASSWORD_HINT.test(text) && !OTHER_HINT.test(text)) return false;
  const inSettings = SETTINGS_NAME.test(path);
  const inNotes = NOTE_NAME.test(path);
  const inBlankSettings = inSettings && BLANK_SETTINGS_NAME.test(path);
  for (const { 0: word, index } of text.matchAll(NAME)) {
    const end = index + word.length;
    if (!AFTER_NAME.test(text.charAt(end))) continue;
    const after = text.slice(end, end + CHARS_AFTER);
    const around = text.slice(Math.max(0, index - CHARS_BEFORE), index);
    const before = around.slice(around.lastIndexOf('\n') + 1);
    const named = { word, name: /[\w.-]*$/.exec(before)![0] + word, before, after };
    if (isAnywhere(named) || (inSettings && isInSettings(named))) return true;
    if (inNotes && isInNotes(named)) return true;
    if (inBlankSettings && isAfterBlank(named)) return true;
  }
  return false;
}

/** `NAME=value` without spaces, the usual form of environment variables. */
const VARIABLE = /^=(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'`,;&)]+))/;
/** The text after a tag's name or key, up to the tag's end. */
const TAG = /^(?:\s[^<>\n]{0,200})?>\s{0,16}([^\s<>]+)\s{0,16}<\//;
const KEYED_TAG = /^">\s{0,16}([^\s<>]+)\s{0,16}<\//;
/** A quoted word assigned to the name, or passed to a call together with it. */
const QUOTED =
  /^(?:\\?["'])?\]?\s{0,16}(?:[:=：]|=>|\((?=["'`]))\s{0,16}\\?(["'`])([^\s"'`\\]{4,128})\\?\1/;
const DEFINED = /^["']\s{0,8},\s{0,8}(["'])([^\s"'\\]{4,128})\1/;

function isAnywhere({ word, name, before, after }: NamedContext): boolean {
  if (/^[A-Z][A-Z0-9_]*$/.test(name) && isValue(VARIABLE.exec(after), name, word)) return true;
  if (!IS_PASSWORD.test(word)) return false;
  if (/<[\w.:-]*$/.test(before) && isValue(TAG.exec(after), name, word)) return true;
  if (/\b(?:key|name)="[^"]*$/.test(before) && isValue(KEYED_TAG.exec(after), name, word))
    return true;
  if (name !== word && isQuotedWord(DEFINED.exec(after)?.[2])) return true;
  return isQuotedWord(QUOTED.exec(after)?.[2]);
}

/** Text that may precede the name of a setting on its line. */
const LINE_START =
  /^[ \t]*(?:-[ \t]+)?(?:(?:export|set|setx|declare|local|readonly|ENV|ARG)[ \t]+)?(?:\$?env:)?["']?[\p{L}\d _./-]*$/iu;
const LINE = /^["']?[ \t]{0,32}[=:：][ \t]{0,64}(\S[^\n\r]*)/;
const ENTRY_START = /"[^"\\]*$/;
const ENTRY = /^"\s{0,32}:\s{0,32}(?:"([^"\\\n]+)"|(\d{4,32})\b)/;
const FLOW_START = /[{,]\s{0,32}[\w.-]*$/;
const FLOW = /^:[ \t]{1,16}["']?([^\s"',{}]+)["']?\s{0,32}[,}]/;
/** The name and its value as two entries of one object. */
const PAIR = /^["']?\s{0,16},?\s{0,64}["']?value["']?\s{0,16}[:=]\s{0,32}["']?([^\s"',}]+)/i;
const TAG_PAIR = /^\s{0,8}<\/(?:key|name)>\s{0,64}<(?:string|value)>([^<\n]+)</i;

function isInSettings({ word, name, before, after }: NamedContext): boolean {
  const isSecretMatch = (match: RegExpExecArray | null): boolean => isValue(match, name, word);
  const rest = LINE.exec(after)?.[1];
  return (
    (rest !== undefined && LINE_START.test(before) && isSecret(name, word, valueOf(rest))) ||
    (ENTRY_START.test(before) && isSecretMatch(ENTRY.exec(after))) ||
    (FLOW_START.test(before) && isSecretMatch(FLOW.exec(after))) ||
    isSecretMatch(PAIR.exec(after)) ||
    isSecretMatch(TAG_PAIR.exec(after))
  );
}

/** In notes the value is one word, alone on the rest of the line. */
const NOTE = /^[*_`]{0,3}[ \t]{0,8}[=:：][ \t*_`]{1,8}([^\s*_`]+)[*_`]{0,3}[ \t]{0,8}(?:\r?\n|$)/;

function isInNotes({ word, name, before, after }: NamedContext): boolean {
  const isLine = LINE_START.test(before.replace(/^[ \t>]*[-*•]?[ \t*_`]*/, ''));
  return isLine && isValue(NOTE.exec(after), name, word);
}

const BLANK_START =
  /^[ \t]*(?:(?:poll|machine|user|username|login|account|default|auth)\b[^#]*[ \t])?(?:with[ \t]+)?$/i;
const BLANK = /^[ \t]{1,32}(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'=:]+)[ \t]{0,16};?\r?(?:\n|$))/;

function isAfterBlank({ word, before, after }: NamedContext): boolean {
  if (!IS_PASSWORD.test(word) || !BLANK_START.test(before)) return false;
  return isLiteral(first(BLANK.exec(after)));
}

function isValue(match: RegExpExecArray | null, name: string, word: string): boolean {
  return match !== null && isSecret(name, word, first(match));
}

function isSecret(name: string, word: string, value: string): boolean {
  if (IS_PASSWORD.test(word)) return isLiteral(value) || isMadeOfWords(value);
  if (OWNED_SECRET.test(name)) return isLiteral(value);
  if (name !== name.toUpperCase()) return false;
  return isLiteral(value) && (word === 'SECRET' || value.length >= MIN_KEY_CHARS);
}

/** Returns true for a quoted password; a label would begin with a capital. */
function isQuotedWord(value = ''): boolean {
  return /^[\p{Ll}\d][\p{L}\d]*$/u.test(value) && isLiteral(value);
}

/** Words found in sentences but not in passphrases. */
const SENTENCE_WORD =
  /\b(?:an?|the|your?|is|are|be|was|to|of|for|and|or|not|no|must|should|can|at|in|on|with|by|if|it|from|this|that|der|die|das|ist|und|oder|ihr|dein|muss|mit|zu|le|la|de|est|et|el|es)\b/;

/** Returns true for three or more lower-case words that do not form a sentence. */
function isMadeOfWords(value: string): boolean {
  return /^[\p{Ll}\d]{2,20}(?: [\p{Ll}\d]{2,20}){2,9}$/u.test(value) && !SENTENCE_WORD.test(value);
}

/**
 * Returns the value at the start of a line's rest: a quoted text, or everything up to a comment.
 */
function valueOf(rest: string): string {
  const quoted = /^(["'])(.+?)\1/.exec(rest);
  if (quoted !== null) return quoted[2]!;
  return rest
    .replace(/[ \t]#.*$/, '')
    .trimEnd()
    .replace(/[,;]$/, '');
}

/** Returns the first group that took part in the match. */
function first(match: readonly (string | undefined)[] | null): string {
  return match?.slice(1).find((value) => value !== undefined) ?? '';
}
