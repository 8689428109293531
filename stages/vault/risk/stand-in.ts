/**
 * Distinguishes credentials from what may be in their place: references, placeholders, types,
 * names.
 */

/**
 * Words for a password, in English and as written in notes, each with a piece that is rare
 * elsewhere. Most text contains none of the pieces, and searching for whole words, which begin with
 * many different letters, would take three times as long.
 */
export const PASSWORD_WORDS: readonly (readonly [word: string, piece: string])[] = [
  ['pass(?:wor[dt]|wd|phrase|code|ord|(?<=\\bpass|_pass))', 'ss(?<=pass)'],
  ['pwd', 'wd(?<=pwd)'],
  ['kennwort', 'wo(?<=kennwo)'],
  ['wachtwoord', 'wo(?<=chtwo)'],
  ['l(?:ö|oe)senord', 'senord'],
  ['mot[ _-]?de[ _-]?passe', 'mot[ _-]?de'],
  ['contrase[ñn]a', 'se[ñn]a(?<=contrase.a)'],
  ['senha', 'senha'],
  ['has[łl]o', 's[łl]o(?<=has.o)'],
  ['heslo', 'slo(?<=heslo)'],
  ['salasana', 'sana(?<=salasana)'],
  ['adgangskode', 'skode(?<=gangskode)'],
  ['пароль', 'парол'],
  ['密[码碼]', '密[码碼]'],
  ['パスワード', 'パスワ'],
  ['비밀번호', '비밀번'],
  ['şifre', 'şifre'],
];

/** Matches any of the words. */
export const PASSWORD_NAME = `(?:${PASSWORD_WORDS.map(([word]) => word).join('|')})`;

/** Matches any of the pieces. */
export const PASSWORD_HINT = new RegExp(PASSWORD_WORDS.map(([, piece]) => piece).join('|'), 'i');

const REFERENCE =
  /^\$(?:[{(]|[A-Za-z_]\w*$)|^(?:%[\w(]|[{<[])|^ENC[[(]|^(?:process|os|env|config|self|this|ctx|req|args|options|settings)\b[.[]/;
const PLACEHOLDER =
  /(example|sample|change_?-?me|placeholder|your[-_]|dummy|redacted|x{4,}|\*{3,}|\.{3})/i;

/** Returns true for a value that refers to one stored elsewhere, or is a placeholder. */
export function isStandIn(value: string): boolean {
  return REFERENCE.test(value) || PLACEHOLDER.test(value);
}

/** A location of a value (a file, a store, a template variable), or an encrypted value. */
const STORED_ELSEWHERE =
  /^(?:[./~$]|[a-z][\w+.-]{0,15}:\/\/|(?:vault|file|env|op|ssm|arn|secrets?|kms|enc|projects|aws|gcp)[:/[(]|(?:var|local|data|module|secrets|vars|steps|inputs|each|params|values|user|form|body|data|state|props|credentials?)\.|!\w+(?:\s|$))/i;
/** Code: a call, an index or a member access. */
const CODE = /[\w$][([]|=>|^\w+(?:(?:\.|::|->)\w+)+$|[(){}[\]<>|\\]/;
/** Statements about a password in its place: its type, whether it is required, how it is stored. */
const PASSWORD_STATEMENT =
  /^(?:null|nil|none|undefined|true|false|yes|no|not|on|off|str|string|text|int|integer|number|bool|boolean|object|array|bytes|uuid|any|unknown|never|void|varchar|char|field|input|type|optional|required|mandatory|missing|disabled?|enabled?|hidden|visible|plain|plaintext|raw|hashed|encrypted|default|empty|blank|unset|same|todo|tbd|value|literal|prompt|ask|stdin|environment|file|keyring|keychain|vault|managed|generated?|random|auto|manual|basic|bearer|oauth\d?|ldap|kerberos|saml|sso|md\d|sha\d*|base\d+|utf\d+|aes\d*|rsa\d*|bcrypt|scrypt|argon\w*|pbkdf\d?|hmac|tests?|testing|foo|bar|baz|dummy|fake|mock|stub|bogus|invalid|wrong|incorrect|bad|old|new|current|confirm|repeat|reset|change|forgot|update|create|delete|login|signin|sign-in|signup|admin_?user|username|email|http|https|grant|refresh|error|failed|ok|pass|fail|passed|skip|skipped)$/i;
const OWN_WORD = `${PASSWORD_NAME}s?|pass|secrets?|tokens?|keys?|credentials?`;
/**
 * A value with such a word is a name, a label or a message; joined to other words it may be a
 * made-up password.
 */
const OWN_NAME = new RegExp(`(?:^|[^a-zA-Z])(?:${OWN_WORD})(?:$|[^a-zA-Z])`, 'i');
const OWN_NAME_IN_CAMEL_CASE =
  /(?:Pass(?:word|wd|phrase|code)?|Pwd|Secret|Token|Key|Credential)s?(?:$|[A-Z_])|^(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|key|credential)s?[A-Z]/;

/** Minimum number of letters and digits of a typed password. */
const MIN_LITERAL_CHARS = 3;
/** Maximum length of a typed password; generated ones are recognized otherwise. */
const MAX_LITERAL_CHARS = 128;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/gu;

/**
 * Returns true for a word in a password's place that can only be a password, though it looks like
 * any other word: no reference, placeholder, type, path, code, or name of a password.
 */
export function isLiteral(value: string): boolean {
  if (value.length > MAX_LITERAL_CHARS) return false;
  if (isStandIn(value) || STORED_ELSEWHERE.test(value) || CODE.test(value)) return false;
  if (/\s/.test(value) || PASSWORD_STATEMENT.test(value)) return false;
  if (OWN_NAME.test(value) || OWN_NAME_IN_CAMEL_CASE.test(value)) return false;
  return (value.match(LETTER_OR_DIGIT)?.length ?? 0) >= MIN_LITERAL_CHARS;
}
