/**
 * Scans a request's raw header fields once and collects the facts that decide admission.
 * `req.headers` is not used: node joins or drops duplicates there, and duplicates must be noticed.
 */
import { KEY_FIELDS } from '../../stages/model/headers.ts';

/** The parts of a node:http request that the gate reads. An `IncomingMessage` is one. */
export interface GateRequest {
  readonly rawHeaders: readonly string[];
  readonly url?: string | undefined;
  readonly method?: string | undefined;
  readonly httpVersion: string;
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly localAddress?: string | undefined;
  };
}

/** Result of the scan. Values are those of the first field with the name. */
export interface HeaderScan {
  host: string | undefined;
  hosts: number;
  origin: string | undefined;
  origins: number;
  fetchSite: string | undefined;
  fetchSites: number;
  fetchMode: string | undefined;
  fetchDest: string | undefined;
  /**
   * True if the browser loads or preloads a page, in a window or a frame; a script's request never
   * does.
   */
  navigates: boolean;
  key: string | undefined;
  keys: number;
  /**
   * A provider key header is present, or another header contains something that begins like a proxy
   * key.
   */
  hasCredential: boolean;
  /** The first `Cookie` field only: browsers send no second one. */
  cookie: string | undefined;
  length: string | undefined;
  lengths: number;
  coding: string | undefined;
  codings: number;
  /** A forwarding field is present: there is an intermediary between the client and us. */
  forwarded: boolean;
  /**
   * A field that no legitimate client sends: a control character in a value, or a prototype's name.
   */
  unclean: boolean;
}

type Mark = (scan: HeaderScan, value: string) => void;

/** Counts the fields of a name and keeps the value of the first. */
function countingFirst(
  first: 'host' | 'origin' | 'fetchSite' | 'key' | 'length' | 'coding',
  count: 'hosts' | 'origins' | 'fetchSites' | 'keys' | 'lengths' | 'codings',
): Mark {
  return (scan, value) => {
    if (scan[count]++ === 0) scan[first] = value;
  };
}

const markForwarded: Mark = (scan) => {
  scan.forwarded = true;
};

const markNavigation: Mark = (scan) => {
  scan.navigates = true;
};

const markCredential: Mark = (scan) => {
  scan.hasCredential = true;
};

/** Earlier names of `Sec-Purpose`. */
const EARLIER_PURPOSES = ['purpose', 'x-purpose', 'x-moz'] as const;

/** Destinations of a page load (Fetch §2.2.5, "navigation request"). */
const PAGE_DESTINATIONS = /document|frame|embed|object/i;

// Fields that proxies, tunnels and CDNs add about their client. They are never read for an address;
// only their presence counts. Most have names that `isForwarding` recognizes; these are the others.
const FORWARDING = [
  'forwarded',
  'via',
  'cdn-loop',
  'cf-ray',
  'cf-visitor',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'cf-ipcountry',
  'cloudfront-viewer-address',
  'coming-from',
  'x-coming-from',
  'fly-forwarded-port',
  'tailscale-user-login',
  'x-amz-cf-id',
  'x-arr-log-id',
  'x-envoy-external-address',
  'x-envoy-original-path',
  'x-forwarded',
  'x-original-host',
  'x-original-url',
  'x-rewrite-url',
  'x-proxyuser-ip',
  'x-remote-addr',
  'remote-addr',
  'x-vercel-id',
] as const;

const FORWARDING_PREFIXES = ['x-forwarded-', 'forwarded-'];
/**
 * `X-Real-IP`, `True-Client-IP`, `X-Azure-ClientIP`, `Original-For`: names of a forwarded address
 * or hop.
 */
const FORWARDING_END =
  /(?:^|[-_])(?:client|socket|real|remote|src|source)?ip$|(?:^|[-_])(?:forwarded|forward|proxied|original|connecting)-?for$/;

const MARKS: ReadonlyMap<string, Mark> = withUsualSpellings([
  ['host', countingFirst('host', 'hosts')],
  ['origin', countingFirst('origin', 'origins')],
  ['sec-fetch-site', countingFirst('fetchSite', 'fetchSites')],
  [
    'sec-fetch-mode',
    (scan, value) => {
      scan.fetchMode ??= value;
      if (/navigate/i.test(value)) scan.navigates = true;
    },
  ],
  [
    'sec-fetch-dest',
    (scan, value) => {
      scan.fetchDest ??= value;
      if (PAGE_DESTINATIONS.test(value)) scan.navigates = true;
    },
  ],
  ['sec-fetch-user', markNavigation],
  ['sec-purpose', markNavigation],
  ['sec-speculation-tags', markNavigation],
  ...EARLIER_PURPOSES.map((name): [string, Mark] => [
    name,
    (scan, value) => {
      if (/prefetch|prerender|preview|instant/i.test(value)) scan.navigates = true;
    },
  ]),
  ['x-svc-key', countingFirst('key', 'keys')],
  ...[...KEY_FIELDS, 'sec-websocket-protocol'].map((name): [string, Mark] => [
    name,
    markCredential,
  ]),
  ['cookie', (scan, value) => void (scan.cookie ??= value)],
  ['content-length', countingFirst('length', 'lengths')],
  ['transfer-encoding', countingFirst('coding', 'codings')],
  // Harmless to us, but not to code that copies fields into a plain object.
  ['__proto__', (scan) => void (scan.unclean = true)],
  ...FORWARDING.map((name): [string, Mark] => [name, markForwarded]),
]);

const INTERESTING = interestingSlots();

// node's parser refuses these already; it has been wrong before (CVE-2022-32214 and similar).
// oxlint-disable-next-line no-control-regex
const UNCLEAN = /[\0\r\n]/;

/** Scans `rawHeaders` once. Never throws; keeps no reference to the array. */
export function scanHeaders(rawHeaders: readonly string[]): HeaderScan {
  const scan: HeaderScan = {
    host: undefined,
    hosts: 0,
    origin: undefined,
    origins: 0,
    fetchSite: undefined,
    fetchSites: 0,
    fetchMode: undefined,
    fetchDest: undefined,
    navigates: false,
    key: undefined,
    keys: 0,
    hasCredential: false,
    cookie: undefined,
    length: undefined,
    lengths: 0,
    coding: undefined,
    codings: 0,
    forwarded: false,
    unclean: false,
  };
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    if (UNCLEAN.test(value)) scan.unclean = true;
    if (value.includes('svc_')) scan.hasCredential = true;
    if (INTERESTING[slot(name)] === 0 && !endsAsForwarding(name)) continue;
    const mark = MARKS.get(name) ?? markOf(name.toLowerCase());
    mark?.(scan, value);
  }
  return scan;
}

function markOf(lowerName: string): Mark | undefined {
  return MARKS.get(lowerName) ?? (isForwarding(lowerName) ? markForwarded : undefined);
}

function isForwarding(lowerName: string): boolean {
  return (
    FORWARDING_PREFIXES.some((prefix) => lowerName.startsWith(prefix)) ||
    FORWARDING_END.test(lowerName)
  );
}

/** True for a name that ends in `ip` or `or`, in either case: few other fields do. */
function endsAsForwarding(name: string): boolean {
  const last = name.charCodeAt(name.length - 1) | 32;
  if (last !== 0x70 && last !== 0x72) return false;
  const before = name.charCodeAt(name.length - 2) | 32;
  return last === 0x70 ? before === 0x69 : before === 0x6f;
}

/**
 * Hashes a name's first and third letter and its length into 14 bits, which distinguishes nearly
 * all fields.
 */
function slot(name: string): number {
  // The low five bits of a letter are the same in both cases.
  return slotOf(name.charCodeAt(0), name.charCodeAt(2), name.length);
}

function slotOf(first: number, third: number, length: number): number {
  return ((first & 31) << 9) | ((third & 31) << 4) | (length & 15);
}

function interestingSlots(): Uint8Array {
  const slots = new Uint8Array(32 * 32 * 16);
  for (const name of MARKS.keys()) slots[slot(name)] = 1;
  // A name with this prefix may have any length.
  for (const prefix of FORWARDING_PREFIXES) {
    const first = slotOf(prefix.charCodeAt(0), prefix.charCodeAt(2), 0);
    slots.fill(1, first, first + 16);
  }
  return slots;
}

/**
 * Adds each mark under its lower-case and title-case spelling, so that most lookups need no
 * lower-casing.
 */
function withUsualSpellings(marks: readonly [string, Mark][]): ReadonlyMap<string, Mark> {
  const titled = marks.map(([name, mark]): [string, Mark] => [
    name.replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => {
      return dash + letter.toUpperCase();
    }),
    mark,
  ]);
  return new Map([...marks, ...titled]);
}
