/**
 * Finds credentials recognizable by what precedes them: a name such as `password` or `api_key`, a
 * header, a command option, the URL that they open.
 */
import { isStandIn, PASSWORD_NAME } from './stand-in.ts';

/** A password in a URL, or a long random user name before its `@`. */
const LOGIN = /[a-z][a-z0-9+.-]{1,15}:\/\/[^\s:/@"'`]{0,64}:(?![$<{*%])([^\s/"'`<>?#\\]{3,128})@/gi;
const LOGIN_TOKEN = /[a-z][a-z0-9+.-]{1,15}:\/\/([\w-]{20,128})(?::x-oauth-basic)?@/gi;

/**
 * Rare pieces of the words that every name and header contains: `key`, `token`, `password`, `pwd`,
 * `secret`, `credential`, `bearer`, `basic`, `SSWS`, `identified by`, `masterauth`, `--pass`, and
 * the end of any other name followed by a value. Nearly all text contains none of them, and
 * searching for whole words would take twice as long.
 */
const HINT = new RegExp(
  `k(?:ey|en)|w(?<=(?:ss|p|nn|n)w)(?:oo?r)?[dt]|wo(?:or|r)[dt]|c(?:ret|red)|b(?:earer|asic|y\\s+')|SSWS|rauth\\s|ss\\s(?<=[-_e]pass\\s)|[:=>：](?<=(?:${PASSWORD_NAME}\\w{0,64}|sig|signature|auth)["']?\\s?.)`,
  'i',
);
/** Command options that take a login or a password. */
const OPTION = /-(?<=\s-)(?:[a-zA-Z]{0,5}[upa]|-(?:proxy-)?user)/;

// Every repetition is bounded, since each of these patterns restarts at every name.
/**
 * Separators of a name and its value: `=`, `:`, `=>`, `: =`; a tag's end; the quote and comma of a
 * call.
 */
const SEPARATOR = `(?:\\\\?["'])?\\]?\\s{0,128}(?:(?:[:=：]{1,4}>?|(?<=["'])\\s{0,8},|>|\\((?=["'\`]))\\s{0,128}|["']?\\s{1,64}(?:value|default)\\s{0,64}=\\s{0,64}|\\s{1,64}is\\s{1,64}(?=["'\`]))`;
const KEY_NAME =
  '(?:secret|token|credential|key(?<=(?:api|access|account|private|shared|auth|encryption|encrypt|signing|sign|master|client|service|admin|app|application|webhook|license|deploy|functions?|host|storage|subscription|hmac|jwt|session|cookie|server|integration|write|ingest|primary|secondary|user|root|aes|ssh)[_. -]?key))';
/** A value in quotes, escaped or not, or up to the next delimiter. */
const VALUE = `(?:\\\\?["'\`]([^\\s"'\`\\\\]{4,512})|([^\\s"'\`,;(){}<>\\\\&]{4,512}))`;

/** Password names; their values may be short or plain words. */
const PASSWORD = new RegExp(`${PASSWORD_NAME}\\d?s?${SEPARATOR}${VALUE}`, 'gi');
/** An assignment to another telling name; the value is judged by `looksRandom`. */
const ASSIGNMENT = new RegExp(
  `(?:${PASSWORD_NAME}|${KEY_NAME})\\w{0,64}${SEPARATOR}\\\\?["'\`]?([^\\s"'\`,;(){}<>\\\\]{8,512})`,
  'gi',
);
/** Any other key; its value must look more random than an identifier or a date does. */
const OTHER_KEY = new RegExp(`key\\d?${SEPARATOR}\\\\?["'\`]?([\\w+/=.~-]{24,512})`, 'gi');
/** A password made of words: in quotes, or the rest of a line as in YAML. */
const PASSPHRASE =
  /(?:pass(?:word|wd|phrase)|secret(?:_?key)?)["']?\s{0,64}[:=]\s{0,64}(?:"([^\s"]{12,256})"|'([^\s']{12,256})'|([^\s"'`,;(){}<>[\]/$]{16,256})[ \t]{0,64}\r?$)/gim;
/** A token in a header. */
const BEARER = /\b(?:Bearer|token|apikey|Key|SSWS)\s{1,64}([\w.~+/=-]{20,512})/gi;
/** A name and a password in Base64, as in a header or a file with logins. */
const ENCODED_LOGIN =
  /\b(?:basic|_?auth["']?\s{0,64}[:=])\s{0,64}["']?([A-Za-z0-9+/]{6,512}={0,2})/gi;
/** A password in a connection string, recognized by the other parts, whatever the password is. */
const CONNECTION =
  /\b(?:user(?: ?id|name)?|uid|server|host|data source|database|dbname|initial catalog|port|endpoint)\s{0,4}=\s{0,4}[^;=\n"']{1,100}[;\s]\s{0,4}(?:password|pwd)\s{0,4}=\s{0,4}([^\s;"']{3,128})|\b(?:password|pwd)=([^\s;"']{3,128});\s{0,4}[a-z ]{2,30}=/gi;
/** A password in a URL query. */
const IN_QUERY = /[?&](?:password|passwd|pwd)=([^\s&"'`<>]{4,256})/gi;
/** The signature in a presigned URL. */
const SIGNATURE = /\bsig(?:nature)?=(?:[A-Za-z0-9%+/]{30}|[0-9a-f]{64})/i;
/** `machine` and `login` may be on the same line or above it. */
const NETRC = /\blogin\s{1,64}\S{1,100}\s{1,64}password\s{1,64}(\S{3,256})/gi;
const SQL = /\b(?:identified\s{1,32}by|password)\s{1,32}(?:password\s{1,32})?'([^\s']{4,256})'/gi;
/** Settings written as a name, a space and a value. */
const SETTING =
  /^[ \t]{0,128}(?:ENV[ \t]{1,32}\w{0,128}(?:PASSWORD|PASS|SECRET|TOKEN|KEY)|requirepass|masterauth)[ \t]{1,32}["']?([^\s"'=]{4,512})/gim;
const CLUSTER_SECRET = /\bkind["']?\s{0,32}:\s{0,32}["']?Secret\b["']?[^\S\n]{0,32}(?:[,\n]|$)/;
const CLUSTER_DATA =
  /\b(?:data|stringData)["']?[ \t]{0,32}:[ \t]{0,32}(?:\r?\n\s{0,128}\{|\{|\r?\n\s{1,128}["']?[\w.-]{1,256}["']?\s{0,32}:)/;

/** `curl -u name:password` and the like; with other programs `-u` is judged by its value. */
const USER_OPTION =
  /\s(?:-[a-zA-Z]{0,5}u|--(?:proxy-)?user)[\s=]{0,16}["']?([^\s:"'`$<{]{0,64}):([^\s"'`]{3,256})/g;
const HTTP_CLIENT = /\b(?:curl|wget|http|https|xh)\s/;
/** How far before an option its command is searched. */
const MAX_COMMAND_CHARS = 1_000;
const PASSWORD_OPTION =
  /--(?:\w{1,32}-){0,6}(?:password|passwd|token|secret|api-?key|pass)\s{1,32}["']?([^\s"'`-][^\s"'`]{3,256})/g;
const SHORT_OPTION =
  /\b(?:(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,120}?\s-p|(?:sshpass|docker login|podman login|mongo(?:sh|dump)?)\b[^\n|;]{0,120}?\s-p\s{0,8}|redis-cli\b[^\n|;]{0,120}?\s-a\s{1,8})["']?([^\s"'`-][^\s"'`]{3,256})/g;

/** A test runner's verdict: the name of a test or its file. */
const VERDICT = /^PASS: (?:(?:Test|Benchmark|Example|Fuzz)[A-Z_]|[\w.-]{1,64}\/)/;

/** Matches values that cannot be an unquoted identifier in code. */
const NOT_AN_IDENTIFIER = /[-!@#%^&*+~?]|^[a-z]+$/;
/** A message, a pattern, a member path or a type. */
const NOT_A_PASSPHRASE =
  /requir|valid|[|(){}[\]<>\\/]|^\w+(\.\w+)+$|^[A-Za-z][a-z]+([A-Z][a-z]*)+$/;
/** Words of such names: a value made of them is a name again, unless it has more. */
const OWN_NAMES = /pass(word|wd|phrase)?s?|secrets?|tokens?|keys?|[^a-z0-9]/gi;
/** A word with punctuation that only passwords have. */
const MARKED_WORD = /^[^\s|()[\]{}<>./\\-]*\w[!@#%^&*+~?$][^|()[\]{}<>/\\]*$/;
/** A word and a number, or mixed case; the caller requires a digit. */
const BARE_PASSWORD = /^[a-z]+\d+$|^(?=.*[A-Z])(?=.*[a-z])[A-Za-z\d]{6,}$/;
const MIN_PASSPHRASE_CHARS = 12;

/** Returns true when `text` reveals a credential by what precedes it. */
export function hasNamedCredential(text: string): boolean {
  return (
    (text.includes('://') && isLogin(text)) ||
    (OPTION.test(text) && isInCommand(text)) ||
    (HINT.test(text) && isNamed(text))
  );
}

function isLogin(text: string): boolean {
  return (
    hasMatch(text, LOGIN, ([, value]) => !isStandIn(value!)) ||
    hasMatch(text, LOGIN_TOKEN, ([, value]) => looksRandom(value!))
  );
}

function isNamed(text: string): boolean {
  return (
    hasMatch(text, ASSIGNMENT, ([all, value]) => looksRandom(value!) && !VERDICT.test(all)) ||
    hasMatch(text, PASSWORD, ([all, quoted, bare]) =>
      quoted === undefined ? isBarePassword(bare!) && !VERDICT.test(all) : isPassword(quoted),
    ) ||
    hasMatch(text, PASSPHRASE, ([, double, single, bare]) =>
      bare === undefined
        ? isPassphrase(double ?? single!)
        : NOT_AN_IDENTIFIER.test(bare) && isPassphrase(bare),
    ) ||
    hasMatch(text, OTHER_KEY, ([, value]) => isKey(value!)) ||
    hasMatch(text, BEARER, ([, value]) => looksRandom(value!)) ||
    hasMatch(text, ENCODED_LOGIN, ([, value]) => isEncodedLogin(value!)) ||
    hasMatch(text, PASSWORD_OPTION, ([, value]) => looksRandom(value!)) ||
    hasMatch(text, SETTING, ([, value]) => looksRandom(value!)) ||
    hasMatch(text, SQL, ([, value]) => !isStandIn(value!)) ||
    (text.includes('login') && hasMatch(text, NETRC, ([, value]) => !isStandIn(value!))) ||
    (text.includes('=') && isInParameters(text)) ||
    (CLUSTER_SECRET.test(text) && CLUSTER_DATA.test(text))
  );
}

function isInParameters(text: string): boolean {
  return (
    hasMatch(text, CONNECTION, ([, after, before]) => !isStandIn(after ?? before!)) ||
    hasMatch(text, IN_QUERY, ([, value]) => !isStandIn(value!)) ||
    SIGNATURE.test(text)
  );
}

function isInCommand(text: string): boolean {
  return (
    hasMatch(text, USER_OPTION, (match) => isUserOption(text, match)) ||
    hasMatch(text, SHORT_OPTION, ([, value]) => !isStandIn(value!))
  );
}

function isUserOption(text: string, { 1: name, 2: value, index }: RegExpMatchArray): boolean {
  if (isStandIn(value!) || (/^\d+$/.test(name!) && /^\d+$/.test(value!))) return false;
  const before = text.slice(Math.max(0, index! - MAX_COMMAND_CHARS), index! + 1);
  const line = before.slice(before.lastIndexOf('\n', before.length - 2) + 1);
  return HTTP_CLIENT.test(line) || isPassword(value!);
}

function hasMatch(text: string, shape: RegExp, is: (match: RegExpMatchArray) => boolean): boolean {
  for (const match of text.matchAll(shape)) if (is(match)) return true;
  return false;
}

function kindsOf(value: string): number {
  return [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
}

/** Returns true for a value that is not a typed example: mixed characters and few repeats. */
function looksRandom(value: string): boolean {
  if (isStandIn(value)) return false;
  const distinct = new Set(value).size;
  return /\d/.test(value) && kindsOf(value) >= 2 && distinct >= Math.min(8, value.length * 0.5);
}

/** Returns true for a quoted value that serves as a password and is not a word or name. */
function isPassword(value: string): boolean {
  if (isStandIn(value)) return false;
  return /^\d{4,}$/.test(value) || looksRandom(value) || MARKED_WORD.test(value);
}

/** Judges an unquoted value, where code has identifiers with digits. */
function isBarePassword(value: string): boolean {
  if (isStandIn(value) || !/\d/.test(value)) return false;
  return /[!@#%^&*+~?$]/.test(value) ? kindsOf(value) >= 3 : BARE_PASSWORD.test(value);
}

function isKey(value: string): boolean {
  if (isStandIn(value)) return false;
  if (/^[0-9a-f]{32,}$/i.test(value)) return new Set(value).size >= 8;
  return (
    /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value) && new Set(value).size >= 14
  );
}

function isEncodedLogin(value: string): boolean {
  const login = Buffer.from(value, 'base64').toString('latin1');
  return /^[\x20-\x7e]{1,64}:[\x20-\x7e]+$/.test(login);
}

/** Returns true for a password value that may be a passphrase. */
function isPassphrase(value: string): boolean {
  if (isStandIn(value) || NOT_A_PASSPHRASE.test(value)) return false;
  return value.replace(OWN_NAMES, '').length >= MIN_PASSPHRASE_CHARS;
}
