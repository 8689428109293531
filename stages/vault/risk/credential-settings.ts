/**
 * Credentials in settings. There a value stands by itself: what follows a password's name
 * is the password, though it be a plain word. Code and prose only speak of passwords, and
 * are judged by fewer forms: an environment variable, a tag, a word in quotes.
 *
 * Every name is found in one pass, and only a few hundred characters around it are looked
 * at, so that the work is linear in the text's length whatever it is.
 */
import { isLiteral, PASSWORD_HINT, PASSWORD_NAME } from './stand-in.ts';

/** Files whose values are meant literally. */
const SETTINGS_NAME =
  /(?:^|\/)(?:[^/]*\.(?:json[5cl]?|ya?ml|toml|ini|env|cfg|cnf|conf|config|properties|props|xml|plist|service|tf|hcl|sh|bash|zsh|fish|ps1|bat|cmd|reg)|\.[^/.]+|[^/.]*rc|(?:docker|container)file[^/]*|compose[^/]*)$/i;
/** Of those, files whose settings are a name, a blank and a value. */
const BLANK_SETTINGS_NAME = /(?:^|\/)(?:[^/]*\.(?:conf|cfg|cnf)|\.[^/.]+|[^/.]*rc)$/i;

/** What people write by hand, and what has no context. */
const NOTE_NAME = /^$|(?:^|\/)[^/.]+$|\.(?:mdx?|markdown|te?xt|rst|adoc|org)$/i;

const KEY_NAME = '(?:api|access|auth|private|encryption|signing|master)[_.-]?(?:key|token)';
const NAME = new RegExp(
  `(?:${PASSWORD_NAME}s?\\d?|secret(?:[_.-]?key(?:[_.-]?base)?)?|${KEY_NAME}|token)(?![a-z])`,
  'gi',
);
const OTHER_HINT = /secret|token|[_.-]key/i;
const IS_PASSWORD = new RegExp(`^${PASSWORD_NAME}`, 'i');
/** A secret that is known by whose it is; a bare one may as well be the name of one. */
const OWNED_SECRET =
  /(?:client|jwt|app|application|session|cookie|auth|shared|api|webhook|signing|access|refresh|consumer|hmac|encryption|csrf|token|hash|oauth|master|service|bot|signature)[_.-]?secret$|secret[_.-]?key(?:[_.-]?base)?$/i;
/** Keys and tokens are drawn; those of people's own making are not much shorter than these. */
const MIN_KEY_CHARS = 8;

const CHARS_BEFORE = 100;
const CHARS_AFTER = 200;
/** What may come right behind a name that has a value. */
const BEHIND_NAME = /["'\\\]\s=:：(<>,]/;

/** A name, and what is around it: its line as far as the name, and what comes behind. */
interface Named {
  /** The last word of the name. */
  readonly word: string;
  /** All of the name, as in `db.root_password`. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** True when `text` gives away a credential in the form of a setting. `path` says what kind of file it is from, if any. */
export function hasSetting(text: string, path: string): boolean {
  if (!PASSWORD_HINT.test(text) && !OTHER_HINT.test(text)) return false;
  const inSettings = SETTINGS_NAME.test(path);
  const inNotes = NOTE_NAME.test(path);
  const inBlankSettings = inSettings && BLANK_SETTINGS_NAME.test(path);
  for (const { 0: word, index } of text.matchAll(NAME)) {
    const end = index + word.length;
    if (!BEHIND_NAME.test(text.charAt(end))) continue;
    const after = text.slice(end, end + CHARS_AFTER);
    const around = text.slice(Math.max(0, index - CHARS_BEFORE), index);
    const before = around.slice(around.lastIndexOf('\n') + 1);
    const named = { word, name: /[\w.-]*$/.exec(before)![0] + word, before, after };
    if (isAnywhere(named) || (inSettings && isInSettings(named))) return true;
    if (inNotes && isInNotes(named)) return true;
    if (inBlankSettings && isBehindBlank(named)) return true;
  }
  return false;
}

/** `NAME=value` with no blanks around it, as environments are written everywhere. */
const VARIABLE = /^=(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'`,;&)]+))/;
/** What follows the name of a tag, or its key, up to the tag's end. */
const TAG = /^(?:\s[^<>\n]{0,200})?>\s{0,16}([^\s<>]+)\s{0,16}<\//;
const KEYED_TAG = /^">\s{0,16}([^\s<>]+)\s{0,16}<\//;
/** A word in quotes that is assigned to it, or given to a call together with it. */
const QUOTED =
  /^(?:\\?["'])?\]?\s{0,16}(?:[:=：]|=>|\((?=["'`]))\s{0,16}\\?(["'`])([^\s"'`\\]{4,128})\\?\1/;
const DEFINED = /^["']\s{0,8},\s{0,8}(["'])([^\s"'\\]{4,128})\1/;

function isAnywhere({ word, name, before, after }: Named): boolean {
  if (/^[A-Z][A-Z0-9_]*$/.test(name) && isValue(VARIABLE.exec(after), name, word)) return true;
  if (!IS_PASSWORD.test(word)) return false;
  if (/<[\w.:-]*$/.test(before) && isValue(TAG.exec(after), name, word)) return true;
  if (/\b(?:key|name)="[^"]*$/.test(before) && isValue(KEYED_TAG.exec(after), name, word))
    return true;
  if (name !== word && isQuotedWord(DEFINED.exec(after)?.[2])) return true;
  return isQuotedWord(QUOTED.exec(after)?.[2]);
}

/** What may stand on a line before the name that a setting begins with. */
const LINE_START =
  /^[ \t]*(?:-[ \t]+)?(?:(?:export|set|setx|declare|local|readonly|ENV|ARG)[ \t]+)?(?:\$?env:)?["']?[\p{L}\d _./-]*$/iu;
const LINE = /^["']?[ \t]{0,32}[=:：][ \t]{0,64}(\S[^\n\r]*)/;
const ENTRY_START = /"[^"\\]*$/;
const ENTRY = /^"\s{0,32}:\s{0,32}(?:"([^"\\\n]+)"|(\d{4,32})\b)/;
const FLOW_START = /[{,]\s{0,32}[\w.-]*$/;
const FLOW = /^:[ \t]{1,16}["']?([^\s"',{}]+)["']?\s{0,32}[,}]/;
/** The name and its value as two entries of one thing. */
const PAIR = /^["']?\s{0,16},?\s{0,64}["']?value["']?\s{0,16}[:=]\s{0,32}["']?([^\s"',}]+)/i;
const TAG_PAIR = /^\s{0,8}<\/(?:key|name)>\s{0,64}<(?:string|value)>([^<\n]+)</i;

function isInSettings({ word, name, before, after }: Named): boolean {
  const is = (match: RegExpExecArray | null): boolean => isValue(match, name, word);
  const rest = LINE.exec(after)?.[1];
  return (
    (rest !== undefined && LINE_START.test(before) && isSecret(name, word, valueOf(rest))) ||
    (ENTRY_START.test(before) && is(ENTRY.exec(after))) ||
    (FLOW_START.test(before) && is(FLOW.exec(after))) ||
    is(PAIR.exec(after)) ||
    is(TAG_PAIR.exec(after))
  );
}

/** In notes it is one word, and nothing else is on the line. */
const NOTE = /^[*_`]{0,3}[ \t]{0,8}[=:：][ \t*_`]{1,8}([^\s*_`]+)[*_`]{0,3}[ \t]{0,8}(?:\r?\n|$)/;

function isInNotes({ word, name, before, after }: Named): boolean {
  const isLine = LINE_START.test(before.replace(/^[ \t>]*[-*•]?[ \t*_`]*/, ''));
  return isLine && isValue(NOTE.exec(after), name, word);
}

const BLANK_START =
  /^[ \t]*(?:(?:poll|machine|user|username|login|account|default|auth)\b[^#]*[ \t])?(?:with[ \t]+)?$/i;
const BLANK = /^[ \t]{1,32}(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'=:]+)[ \t]{0,16};?\r?(?:\n|$))/;

function isBehindBlank({ word, before, after }: Named): boolean {
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

/** A label begins with a capital. */
function isQuotedWord(value = ''): boolean {
  return /^[\p{Ll}\d][\p{L}\d]*$/u.test(value) && isLiteral(value);
}

/** Words that a sentence has and a password that is made of words has not. */
const IN_SENTENCES =
  /\b(?:an?|the|your?|is|are|be|was|to|of|for|and|or|not|no|must|should|can|at|in|on|with|by|if|it|from|this|that|der|die|das|ist|und|oder|ihr|dein|muss|mit|zu|le|la|de|est|et|el|es)\b/;

/** Three or more words in small letters that make no sentence. */
function isMadeOfWords(value: string): boolean {
  return /^[\p{Ll}\d]{2,20}(?: [\p{Ll}\d]{2,20}){2,9}$/u.test(value) && !IN_SENTENCES.test(value);
}

/** The value that a line's rest begins with: what is in quotes, or all of it but a remark. */
function valueOf(rest: string): string {
  const quoted = /^(["'])(.+?)\1/.exec(rest);
  if (quoted !== null) return quoted[2]!;
  return rest
    .replace(/[ \t]#.*$/, '')
    .trimEnd()
    .replace(/[,;]$/, '');
}

/** What the first of the groups that took part holds. */
function first(match: readonly (string | undefined)[] | null): string {
  return match?.slice(1).find((value) => value !== undefined) ?? '';
}
