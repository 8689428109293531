/**
 * Credentials that are recognised by their own shape, wherever they occur: the vault does not send
 * text that has one, and the log does not write it. The table follows what secret scanners
 * (gitleaks, trufflehog) know; lengths are lower bounds, since a false positive is safer than a
 * leak.
 *
 * Nearly all text has none, and that must be decided fast. Every one of these is at least sixteen
 * characters without a space, so only runs of that length are looked at, which are found by looking
 * at every sixteenth character; and in a run only at the starts of words, with the few shapes that
 * begin with that character.
 */

/** Regular expressions, separated by spaces; each begins with a plain or an escaped character. */
const ROWS = [
  // Our own.
  'svc_[\\w-]{40}',
  // Clouds.
  'A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}\\b ABSK[A-Za-z0-9+/]{40} AIza[\\w-]{30} AKID[A-Za-z0-9]{32}',
  'ya29\\.[\\w-]{20} GOCSPX-[\\w-]{20} 1//0[\\w-]{30} LTAI[A-Za-z0-9]{16} amzn\\.mws\\.[0-9a-f-]{30}',
  'do[opr]_v1_[0-9a-f]{32} dapi[0-9a-f]{32} dckr_[op]at_[\\w-]{20} HRKU-[\\w-]{20} fo1_[\\w-]{30}',
  'fm[12][ar]?_[\\w+/=-]{30} rnd_[A-Za-z0-9]{20} nfp_[A-Za-z0-9]{30} vercel_blob_rw_\\w{20} vc[api]_[A-Za-z0-9]{24}',
  'pscale_(?:tkn|oauth|pw)_[\\w.-]{30} napi_[a-z0-9]{40} sbp_[0-9a-f]{32} sb_secret_[\\w-]{16}',
  'v1\\.0-[0-9a-f]{24}-[0-9a-f]{60} tskey-[a-z]+-[\\w-]{16} ocid1\\.key\\.[\\w.]{20}',
  // Source control, packages, build and infrastructure.
  'gh[opsur]_[A-Za-z0-9]{30} github_pat_\\w{30} gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[\\w-]{16}',
  'npm_[A-Za-z0-9]{30} pypi-[\\w-]{40} rubygems_[0-9a-f]{32} oy2[a-z0-9]{43}\\b cio[A-Za-z0-9]{32}\\b CLOJARS_\\w{40}',
  'hv[sbr]\\.[\\w-]{20} atlasv1\\.[\\w=-]{30} pul-[0-9a-f]{40} dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{20}',
  'CCIP(?:AT|RJ)_\\w{20} bkua_[0-9a-f]{32} sq[apu]_[0-9a-f]{40} AKCp[A-Za-z0-9]{50} ops_eyJ[\\w+/=-]{40}',
  's\\.(?=\\w*\\d)(?=\\w*[A-Z])[A-Za-z0-9]{24}\\b AGE-SECRET-KEY-1[0-9A-Z]{40} sntry[su]_[\\w+/=-]{30} sgp_[0-9a-f_]{40}',
  'NR(?:AK|II|IQ|RA|JS)-[\\w-]{19} glsa_\\w{20} glc_[A-Za-z0-9+/=]{30} eyJrIjoi[A-Za-z0-9+/=]{30} dt0[a-z]01\\.[A-Z0-9]{24}\\.[A-Z0-9]{40}',
  // Models.
  'sk-[\\w-]{20} hf_[A-Za-z0-9]{20} api_org_[A-Za-z0-9]{20} r8_[A-Za-z0-9]{20} gsk_[A-Za-z0-9]{20} xai-[A-Za-z0-9-]{20}',
  'pplx-[A-Za-z0-9-]{20} nvapi-[\\w-]{20} csk-[a-z0-9]{30} lsv2_(?:pt|sk)_\\w{20} pcsk_\\w{20} tgp_v1_[\\w-]{20}',
  'tvly-[\\w-]{20} fc-[0-9a-f]{32} e2b_[0-9a-f]{32} fw_[A-Za-z0-9]{20}\\b jina_[A-Za-z0-9]{30} pa-[\\w-]{40}',
  // Payments and shops.
  'whsec_[A-Za-z0-9+/=]{20} sq0[a-z]{3}-[\\w-]{20} EAAA[\\w-]{50} shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{28}',
  'rzp_(?:live|test)_[A-Za-z0-9]{14} FLWSECK[_-]\\w{12} access_token\\$[\\w$]{40} EZ[AT]K[A-Za-z0-9]{50} shippo_(?:live|test)_[0-9a-f]{32}',
  'access-(?:sandbox|development|production)-[0-9a-f-]{30}',
  // Messages and mail.
  'xox[a-z](?:\\.xox[a-z])?-[\\w-]{11} xapp-\\d-[\\w-]{16} hooks\\.slack\\.com/(?:services|workflows|triggers)/[\\w/]{16}',
  'discord(?:app)?\\.com/api/webhooks/\\d{10,20}/[\\w-]{20}',
  'webhook\\.office\\.com/webhookb2/[\\w-]{30} outlook\\.office\\.com/webhook/[\\w-]{30} hooks\\.zapier\\.com/hooks/catch/\\d+/\\w{5}',
  'SG\\.[\\w-]{16,32}\\.[\\w-]{16} key-[0-9a-zA-Z]{32}\\b xkeysib-[0-9a-f]{40} xsmtpsib-[0-9a-f]{40}',
  'EAA[A-Za-z0-9]{60} A{20,22}\\w{4,40}%[\\w%]{30} re_[A-Za-z0-9]{8}_[A-Za-z0-9]{16}',
  // Project management and office tools.
  'lin_(?:api|oauth)_[A-Za-z0-9]{20} secret_[A-Za-z0-9]{32} ntn_[A-Za-z0-9]{30} fig[dour]{1,2}_[\\w-]{20} phx_\\w{30}',
  'AT(?:ATT|CTT|OATT)3[\\w=-]{20} ATBB[A-Za-z0-9]{24} pat[A-Za-z0-9]{14}\\.[0-9a-f]{40} pat-[a-z]{2,3}\\d-[0-9a-f-]{36}',
  'PMAK-[0-9a-f-]{40} CFPAT-[\\w-]{30} rdme_[a-z0-9]{40} tfp_[\\w.-]{40} fio-u-[\\w=-]{40} pk_\\d{5,10}_[A-Z0-9]{32}',
  'patAT\\w{30} dG9rO[A-Za-z0-9+/=]{40} ctp_[A-Za-z0-9]{30} duffel_(?:live|test)_[\\w-]{30} ico-[A-Za-z0-9]{32}',
  // Tokens, and keys in Base64 as in cluster configurations and key files.
  'b3BlbnNzaC1rZXktdjE',
  // Password hashes, as web servers and systems store them.
  '\\$2[abxy]?\\$\\d\\d\\$[./A-Za-z0-9]{50} \\$(?:1|5|6|apr1)\\$(?:rounds=\\d+\\$)?[./A-Za-z0-9]{1,16}\\$[./A-Za-z0-9]{22}',
  '\\$y\\$[./A-Za-z0-9]+\\$[./A-Za-z0-9]{1,86}\\$[./A-Za-z0-9]{40} \\$(?:argon2(?:id|i|d)|scrypt|pbkdf2)[\\w-]*\\$',
  'pbkdf2_sha\\d+\\$\\d+\\$[^\\s$]+\\$[\\w+/=]{30} bcrypt_sha256\\$\\$2b',
];
const PLAIN_SHAPES = ROWS.flatMap((row) => row.split(' '));

/** Likewise for shapes that begin with one of several characters. */
const OPEN_SHAPES: readonly (readonly [string, string])[] = [
  ['rs', '[rs]k_(?:live|test|prod)_\\w{16}'],
  ['MNO', '[MNO][\\w-]{22,27}\\.[\\w-]{6}\\.[\\w-]{27}'],
  ['lt', '(?:live|test)_[0-9a-f]{35}\\b'],
  ['SA', '(?:SK|AC)[0-9a-f]{32}\\b'],
  ['0123456789', '\\d{8,10}:AA[\\w-]{32}'],
  ['0123456789', '\\d/\\d{10,20}:[0-9a-f]{32}\\b'],
  ['0123456789abcdef', '[0-9a-f]{32}-us\\d{1,2}\\b'],
];

/** Prefixes of private keys encoded again in Base64, as in cluster configurations. */
const ENCODED_KEYS = ['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED ', 'PGP '].map((kind) => {
  const begin = Buffer.from(`-----BEGIN ${kind}PRIVATE KEY`);
  return begin.subarray(0, begin.length - (begin.length % 3)).toString('base64');
});

/** The sources of all shapes that begin at the start of a word. */
export const CREDENTIAL_SHAPES: readonly string[] = [
  ...PLAIN_SHAPES,
  ...OPEN_SHAPES.map(([, source]) => source),
];

interface MarkedShape {
  /** A rare substring without which `shape` need not be searched for. */
  readonly mark: string;
  readonly shape: RegExp;
  /** What ends it; without one it ends with the last of its characters. */
  readonly end?: RegExp;
}

/** Shapes that may begin with any character. */
const MARKED: readonly MarkedShape[] = [
  {
    mark: 'PRIVATE KEY',
    shape: /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY/g,
    end: /-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-{0,5}/g,
  },
  // The rest of such a file is the key.
  { mark: 'PuTTY-User-Key-File', shape: /PuTTY-User-Key-File-\d:/g, end: /$/g },
  { mark: 'Q~', shape: /[\w~.-]{3}\dQ~[\w~.-]{31}/g },
  { mark: 'SHA}', shape: /\{S?SHA\}[A-Za-z0-9+/]{27}/g },
  // A signed token, matched from the dot in its middle: its parts may have any length.
  { mark: '.eyJ', shape: /\.eyJ(?<=eyJ[\w-]{10,}\.eyJ)[\w-]{10}/g },
  // 64 bytes, as in storage account keys; with a dash before it, it is a checksum.
  { mark: '==', shape: /(?<![\w+/=-])[A-Za-z0-9+/]{86}==/g },
];

/**
 * The continuation after a key's shortest form: its alphabet, and punctuation between two of its
 * characters.
 */
const REST = /(?:[\w-]|[.+/=~$%](?=[\w+/=~$%-]))*={0,2}/y;

/** Keys that are quoted in part, or shorter than real ones, are not a reason to hold a text back. */
const SHORT_KEYS =
  /\b(?:(?:sk|pk|rk|ghp|gho|xox[abprs])[-_][A-Za-z0-9_-]{8,}|svc_[A-Za-z0-9]{16,}|AIza[A-Za-z0-9_-]{8,})/g;
const SHORT_HINT = /[prs]k[-_]|svc_|gh[op][-_]|xox|AIza/;

/** Minimum length of all shapes. */
const MIN_RUN_CHARS = 16;

/** A shape may end before its run does, and a word may begin late in it. */
const MIN_SHAPE_CHARS = 12;
const BACKSLASH = 92;

const IN_RUN = 1;
const IN_WORD = 2;
const KINDS = new Uint8Array(65_536);
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code);
  if (/\w/.test(char)) KINDS[code] = IN_RUN | IN_WORD;
  else if (/[-+/=.:$]/.test(char)) KINDS[code] = IN_RUN;
}

/** The shapes by the code of their first character. */
const BY_START = byStart();

/**
 * Returns true if `text` contains something with the shape of a credential. Linear in its length.
 */
export function hasCredentialShape(text: string): boolean {
  if (text.length < MIN_RUN_CHARS) return false;
  for (const { mark, shape } of MARKED) {
    shape.lastIndex = 0;
    if (text.includes(mark) && shape.test(text)) return true;
  }
  return spanIn(text, 0) !== undefined;
}

/** The replacement for a credential, or a function that makes it. */
export type Replacement = string | ((found: string) => string);

function replacementFor(replacement: Replacement, found: string): string {
  return typeof replacement === 'string' ? replacement : replacement(found);
}

/** Replaces each credential in `text`, shortened forms included. Linear in its length. */
export function withoutCredentials(text: string, replacement: Replacement): string {
  const whole = SHORT_HINT.test(text)
    ? text.replace(SHORT_KEYS, (found) => replacementFor(replacement, found))
    : text;
  if (whole.length < MIN_RUN_CHARS) return whole;
  let clean = whole;
  for (const marked of MARKED) {
    if (clean.includes(marked.mark))
      clean = replaceMatches(clean, replacement, (from) => markedSpanIn(clean, from, marked));
  }
  return replaceMatches(clean, replacement, (from) => spanIn(clean, from));
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function replaceMatches(
  text: string,
  replacement: Replacement,
  next: (from: number) => Span | undefined,
): string {
  let kept = '';
  let from = 0;
  for (let span = next(0); span !== undefined; span = next(from)) {
    const start = Math.max(from, span.from);
    kept += text.slice(from, start) + replacementFor(replacement, text.slice(start, span.to));
    from = span.to;
  }
  return from === 0 ? text : kept + text.slice(from);
}

function markedSpanIn(text: string, start: number, { shape, end }: MarkedShape): Span | undefined {
  shape.lastIndex = start;
  const found = shape.exec(text);
  if (found === null) return undefined;
  let from = found.index;
  while (from > start && isWordAt(text, from - 1)) from--;
  if (end === undefined) return { from, to: restEnd(text, shape.lastIndex) };
  end.lastIndex = shape.lastIndex;
  return { from, to: end.test(text) ? end.lastIndex : text.length };
}

function restEnd(text: string, at: number): number {
  REST.lastIndex = at;
  return REST.test(text) ? REST.lastIndex : at;
}

/** Returns the first credential from `start` on that begins at the start of a word. */
function spanIn(text: string, start: number): Span | undefined {
  const length = text.length;
  let last = start + MIN_RUN_CHARS - 1;
  while (last < length) {
    const first = last - MIN_RUN_CHARS + 1;
    let at = last;
    while (at >= first && KINDS[text.charCodeAt(at)] !== 0) at--;
    if (at >= first) {
      last = at + MIN_RUN_CHARS;
      continue;
    }
    let end = last + 1;
    while (end < length && KINDS[text.charCodeAt(end)] !== 0) end++;
    const found = spanInRun(text, first, end);
    if (found !== undefined) return found;
    last = end + MIN_RUN_CHARS;
  }
  return undefined;
}

function spanInRun(text: string, first: number, end: number): Span | undefined {
  // The letter of an escape, as in `\nAKIA…` in JSON, is not the first of the word.
  let isStart = true;
  let escaped = first > 0 && text.charCodeAt(first - 1) === BACKSLASH;
  for (let at = first; at < end - MIN_SHAPE_CHARS; at++) {
    const inWord = isWordAt(text, at);
    if ((isStart || !inWord) && isAt(text, at))
      return { from: at, to: restEnd(text, BY_START[text.charCodeAt(at)]!.lastIndex) };
    isStart = !inWord || escaped;
    escaped = false;
  }
  return undefined;
}

function isWordAt(text: string, at: number): boolean {
  return (KINDS[text.charCodeAt(at)]! & IN_WORD) !== 0;
}

function isAt(text: string, at: number): boolean {
  const shapes = BY_START[text.charCodeAt(at)];
  if (shapes === undefined) return false;
  shapes.lastIndex = at;
  return shapes.test(text);
}

function byStart(): readonly (RegExp | undefined)[] {
  const sources = new Map<string, string[]>();
  const add = (starts: string, source: string): void => {
    for (const start of starts) sources.set(start, [...(sources.get(start) ?? []), source]);
  };
  for (const source of [...PLAIN_SHAPES, ...ENCODED_KEYS])
    add(source.replace('\\', '')[0]!, source);
  for (const [starts, source] of OPEN_SHAPES) add(starts, source);
  const found: (RegExp | undefined)[] = [];
  for (const [start, all] of sources) found[start.charCodeAt(0)] = new RegExp(all.join('|'), 'y');
  return found;
}
