/**
 * Hostile requests, and some legitimate ones for comparison, as the bytes of a connection (latin1).
 * For tests.
 */

/** A Host that is ours. */
export const H = 'Host: localhost\r\n';
const get = (fields: string, target = '/stats') => `GET ${target} HTTP/1.1\r\n${fields}\r\n`;
const post = (fields: string, body: string, version = '1.1') =>
  `POST /v1/messages HTTP/${version}\r\n${H}${fields}\r\n${body}`;
const many = (count: number) => 'X-A: b\r\n'.repeat(count);
const upgrade = (fields: string) =>
  get(
    `${H}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${fields}`,
    '/ws',
  );

/** The bytes to write and the status that must come back first. */
export type Case = readonly [name: string, bytes: string, status: number];

const HOSTS: readonly Case[] = [
  ['no Host', get(''), 400],
  ['no Host under 1.0', 'GET /stats HTTP/1.0\r\n\r\n', 400],
  ['empty Host', get('Host:\r\n'), 400],
  ['blank Host', get('Host:   \r\n'), 400],
  ['two equal Hosts', get(H + H), 400],
  ['two Hosts', get(`${H}Host: evil.example\r\n`), 400],
  ['two Hosts, foreign first', get(`Host: evil.example\r\n${H}`), 400],
  ['two Hosts in other case', get(`${H}hOST: evil.example\r\n`), 400],
  ['Host with a space before the colon', get('Host : localhost\r\n'), 400],
  ['folded Host', get('Host: local\r\n host\r\n'), 400],
  ['Host list', get('Host: localhost, evil.example\r\n'), 400],
  ['Host with user', get('Host: a@localhost\r\n'), 400],
  ['Host with path', get('Host: localhost/x\r\n'), 400],
  ['Host with a bad port', get('Host: localhost:x\r\n'), 400],
  ['Host with NUL', get('Host: local\0host\r\n'), 400],
  ['foreign Host', get('Host: evil.example\r\n'), 403],
  ['our Host with another port', get('Host: localhost:1\r\n'), 200],
  ['metadata Host', get('Host: 169.254.169.254\r\n'), 403],
  ['unspecified Host', get('Host: 0.0.0.0\r\n'), 403],
];

const TARGETS: readonly Case[] = [
  ['absolute target of ours', get(H, 'http://localhost/stats'), 200],
  ['absolute target elsewhere', get(H, 'http://evil.example/'), 403],
  [
    'absolute target elsewhere with our name before @',
    get(H, 'http://localhost@evil.example/'),
    400,
  ],
  ['absolute https target', get(H, 'https://localhost/'), 400],
  ['absolute ftp target', get(H, 'ftp://localhost/'), 400],
  ['absolute target without host', get(H, 'http:///stats'), 400],
  [
    'absolute target of ours, foreign Host',
    get('Host: evil.example\r\n', 'http://localhost/'),
    403,
  ],
  ['target without slash', get(H, 'stats'), 400],
  ['target is a star', get(H, '*'), 400],
  ['target with a fragment', get(H, '/stats#x'), 400],
  ['target with raw bytes above ASCII', get(H, '/st\u00e4ts'), 400],
  ['target with a tab', get(H, '/st\tats'), 400],
  ['target with a space', get(H, '/st ats'), 400],
  ['target with NUL', get(H, '/st\0ats'), 400],
];

const VERSIONS: readonly Case[] = [
  ['HTTP/0.9', 'GET /stats\r\n\r\n', 400],
  ['HTTP/0.9 with version', `GET /stats HTTP/0.9\r\n${H}\r\n`, 400],
  ['HTTP/2.0', `GET /stats HTTP/2.0\r\n${H}\r\n`, 400],
  ['HTTP/1.2', `GET /stats HTTP/1.2\r\n${H}\r\n`, 400],
  ['HTTP/1.10', `GET /stats HTTP/1.10\r\n${H}\r\n`, 400],
  ['http in small letters', `GET /stats http/1.1\r\n${H}\r\n`, 400],
  ['ICE protocol', `GET /stats ICE/1.0\r\n${H}\r\n`, 400],
  ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['unknown method', `BREW /stats HTTP/1.1\r\n${H}\r\n`, 400],
];

const CHUNKS = '5\r\nhello\r\n0\r\n\r\n';
const FRAMING: readonly Case[] = [
  ['two Content-Lengths', post('Content-Length: 5\r\nContent-Length: 6\r\n', 'hello'), 400],
  ['two equal Content-Lengths', post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello'), 400],
  ['Content-Length list', post('Content-Length: 5, 5\r\n', 'hello'), 400],
  ['Content-Length with sign', post('Content-Length: +5\r\n', 'hello'), 400],
  ['negative Content-Length', post('Content-Length: -5\r\n', 'hello'), 400],
  ['hexadecimal Content-Length', post('Content-Length: 0x5\r\n', 'hello'), 400],
  ['fractional Content-Length', post('Content-Length: 5.0\r\n', 'hello'), 400],
  ['empty Content-Length', post('Content-Length:\r\n', ''), 400],
  ['Content-Length past 64 bits', post(`Content-Length: ${'9'.repeat(30)}\r\n`, 'hello'), 400],
  ['Content-Length past 2^53', post('Content-Length: 9007199254740993\r\n', 'hello'), 400],
  ['CL and TE', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', CHUNKS), 400],
  ['TE and CL', post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', CHUNKS), 400],
  ['TE gzip, chunked', post('Transfer-Encoding: gzip, chunked\r\n', CHUNKS), 400],
  ['TE chunked, chunked', post('Transfer-Encoding: chunked, chunked\r\n', CHUNKS), 400],
  [
    'TE chunked twice',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', CHUNKS),
    400,
  ],
  ['TE chunked, identity', post('Transfer-Encoding: chunked, identity\r\n', CHUNKS), 400],
  ['TE identity', post('Transfer-Encoding: identity\r\n', 'hello'), 400],
  ['TE xchunked', post('Transfer-Encoding: xchunked\r\n', CHUNKS), 400],
  ['TE "chunked"', post('Transfer-Encoding: "chunked"\r\n', CHUNKS), 400],
  ['TE chunked;q', post('Transfer-Encoding: chunked;q=1\r\n', CHUNKS), 400],
  ['TE with vertical tab', post('Transfer-Encoding: \x0bchunked\r\n', CHUNKS), 400],
  ['TE empty', post('Transfer-Encoding:\r\n', CHUNKS), 400],
  ['TE folded', post('Transfer-Encoding:\r\n chunked\r\n', CHUNKS), 400],
  ['TE name with a space', post('Transfer-Encoding : chunked\r\n', CHUNKS), 400],
  ['TE under 1.0', post('Transfer-Encoding: chunked\r\n', CHUNKS, '1.0'), 400],
  ['TE chunked', post('Transfer-Encoding: chunked\r\n', CHUNKS), 200],
  ['TE chunked after a tab', post('Transfer-Encoding:\tchunked\r\n', CHUNKS), 200],
  ['chunk size with sign', post('Transfer-Encoding: chunked\r\n', '+5\r\nhello\r\n0\r\n\r\n'), 400],
  ['chunk size 0x', post('Transfer-Encoding: chunked\r\n', '0x5\r\nhello\r\n0\r\n\r\n'), 400],
  [
    'chunk longer than said',
    post('Transfer-Encoding: chunked\r\n', '3\r\nhello\r\n0\r\n\r\n'),
    400,
  ],
  [
    'chunk size overflow',
    post('Transfer-Encoding: chunked\r\n', 'fffffffffffffffff\r\nhi\r\n'),
    400,
  ],
];

const FIELDS: readonly Case[] = [
  ['200 fields', get(H + many(199)), 200],
  ['201 fields', get(H + many(200)), 431],
  ['Origin hidden behind 900 fields', get(`${H}${many(900)}Origin: http://evil.example\r\n`), 431],
  ['3000 fields', get(H + 'a:b\r\n'.repeat(2999)), 431],
  ['a field of 17 KiB', get(`${H}X-Long: ${'a'.repeat(17 * 1024)}\r\n`), 431],
  ['a name of 17 KiB', get(`${H}${'a'.repeat(17 * 1024)}: x\r\n`), 431],
  ['__proto__', get(`${H}__proto__: x\r\n`), 400],
  ['__PROTO__', get(`${H}__PROTO__: x\r\n`), 400],
  ['constructor', get(`${H}constructor: x\r\n`), 200],
  ['a field without name', get(`${H}: x\r\n`), 400],
  ['a field without colon', get(`${H}nonsense\r\n`), 400],
  ['a name with a space', get(`${H}X A: b\r\n`), 400],
  ['a name with brackets', get(`${H}X(A): b\r\n`), 400],
  ['a value with NUL', get(`${H}X-A: a\0b\r\n`), 400],
  ['a value with a bare CR', get(`${H}X-A: a\rX-B: b\r\n`), 400],
  ['a folded value', get(`${H}X-A: a\r\n b\r\n`), 400],
  ['a space before the first field', `GET /stats HTTP/1.1\r\n ${H}\r\n`, 400],
];

const CALLERS: readonly Case[] = [
  ['a plain call', get(H), 200],
  ['X-Forwarded-For', get(`${H}X-Forwarded-For: 127.0.0.1\r\n`), 401],
  ['Forwarded', get(`${H}Forwarded: for=127.0.0.1\r\n`), 401],
  ['foreign Origin', get(`${H}Origin: https://evil.example\r\n`), 401],
  ['null Origin', get(`${H}Origin: null\r\n`), 401],
  ['two Origins', get(`${H}Origin: http://localhost\r\nOrigin: https://evil.example\r\n`), 401],
  ['cross-site without Origin', get(`${H}Sec-Fetch-Site: cross-site\r\n`), 401],
  ['foreign Origin with the key', get(`${H}Origin: https://evil.example\r\nX-Svc-Key: k\r\n`), 200],
  [
    'foreign Origin with a wrong key',
    get(`${H}Origin: https://evil.example\r\nX-Svc-Key: kk\r\n`),
    401,
  ],
  ['upgrade', upgrade(''), 101],
  ['upgrade of a foreign page', upgrade('Origin: https://evil.example\r\n'), 403],
  [
    'upgrade of a foreign page with the key',
    upgrade('Origin: https://evil.example\r\nX-Svc-Key: k\r\n'),
    403,
  ],
  ['upgrade of a null page', upgrade('Origin: null\r\n'), 403],
  ['upgrade to a foreign Host', upgrade('').replace('Host: localhost', 'Host: evil.example'), 403],
  ['upgrade through a proxy', upgrade('X-Real-IP: 127.0.0.1\r\n'), 401],
];

/** Every case. */
export const CASES: readonly Case[] = [
  ...HOSTS,
  ...TARGETS,
  ...VERSIONS,
  ...FRAMING,
  ...FIELDS,
  ...CALLERS,
];
