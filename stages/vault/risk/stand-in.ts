/** Distinguishes a credential from what stands where one would: references, placeholders, types, names. */

/**
 * The words for a password, in English and in what people write their notes in, and of each a
 * piece that is rare elsewhere. Most text has none of the pieces, and whole words, which begin
 * with many letters, would take three times as long to look for.
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

/** Any of the words, as regular expressions do. */
export const PASSWORD_NAME = `(?:${PASSWORD_WORDS.map(([word]) => word).join('|')})`;

/** Finds the pieces. */
export const PASSWORD_HINT = new RegExp(PASSWORD_WORDS.map(([, piece]) => piece).join('|'), 'i');

const REFERENCE =
  /^\$(?:[{(]|[A-Za-z_]\w*$)|^(?:%[\w(]|[{<[])|^ENC[[(]|^(?:process|os|env|config|self|this|ctx|req|args|options|settings)\b[.[]/;
const PLACEHOLDER =
  /(example|sample|change_?-?me|placeholder|your[-_]|dummy|redacted|x{4,}|\*{3,}|\.{3})/i;

/** True for a value that refers to one kept elsewhere, or that stands where one would. */
export function isStandIn(value: string): boolean {
  return REFERENCE.test(value) || PLACEHOLDER.test(value);
}

/** Where a value is kept: a file, a store, a variable of a template; or it is encrypted. */
const KEPT_ELSEWHERE =
  /^(?:[./~$]|[a-z][\w+.-]{0,15}:\/\/|(?:vault|file|env|op|ssm|arn|secrets?|kms|enc|projects|aws|gcp)[:/[(]|(?:var|local|data|module|secrets|vars|steps|inputs|each|params|values|user|form|body|data|state|props|credentials?)\.|!\w+(?:\s|$))/i;
/** A call, an index, a member: code. */
const CODE = /[\w$][([]|=>|^\w+(?:(?:\.|::|->)\w+)+$|[(){}[\]<>|\\]/;
/** What stands in place of a password: its type, whether there has to be one, how it is kept. */
const ABOUT =
  /^(?:null|nil|none|undefined|true|false|yes|no|not|on|off|str|string|text|int|integer|number|bool|boolean|object|array|bytes|uuid|any|unknown|never|void|varchar|char|field|input|type|optional|required|mandatory|missing|disabled?|enabled?|hidden|visible|plain|plaintext|raw|hashed|encrypted|default|empty|blank|unset|same|todo|tbd|value|literal|prompt|ask|stdin|environment|file|keyring|keychain|vault|managed|generated?|random|auto|manual|basic|bearer|oauth\d?|ldap|kerberos|saml|sso|md\d|sha\d*|base\d+|utf\d+|aes\d*|rsa\d*|bcrypt|scrypt|argon\w*|pbkdf\d?|hmac|tests?|testing|foo|bar|baz|dummy|fake|mock|stub|bogus|invalid|wrong|incorrect|bad|old|new|current|confirm|repeat|reset|change|forgot|update|create|delete|login|signin|sign-in|signup|admin_?user|username|email|http|https|grant|refresh|error|failed|ok|pass|fail|passed|skip|skipped)$/i;
const OWN_WORD = `${PASSWORD_NAME}s?|pass|secrets?|tokens?|keys?|credentials?`;
/** What calls itself so is a name again, a label or a message; run into other words it is what people make up. */
const OWN_NAME = new RegExp(`(?:^|[^a-zA-Z])(?:${OWN_WORD})(?:$|[^a-zA-Z])`, 'i');
const OWN_NAME_IN_CAMEL_CASE =
  /(?:Pass(?:word|wd|phrase|code)?|Pwd|Secret|Token|Key|Credential)s?(?:$|[A-Z_])|^(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|key|credential)s?[A-Z]/;

/** Enough letters and digits for somebody to have typed them as a password. */
const MIN_LITERAL_CHARS = 3;
/** Nobody types more, and what is drawn is known otherwise. */
const MAX_LITERAL_CHARS = 128;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/gu;

/**
 * True for one word that stands where a password does and can only be one, though it looks
 * like any other: no reference, placeholder, type, path, code, or name of a password.
 */
export function isLiteral(value: string): boolean {
  if (value.length > MAX_LITERAL_CHARS) return false;
  if (isStandIn(value) || KEPT_ELSEWHERE.test(value) || CODE.test(value)) return false;
  if (/\s/.test(value) || ABOUT.test(value)) return false;
  if (OWN_NAME.test(value) || OWN_NAME_IN_CAMEL_CASE.test(value)) return false;
  return (value.match(LETTER_OR_DIGIT)?.length ?? 0) >= MIN_LITERAL_CHARS;
}
