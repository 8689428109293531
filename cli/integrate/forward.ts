/**
 * Forward mode as a change of a client's settings: svc as its proxy instead of its base URL, until
 * undone.
 */
import { join, resolve, sep } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import { codexFolder } from '../../server/sessions/find.ts';
import { forwardFiles } from '../../server/forward-proxy/ca/files.ts';
import { TOKEN_USER } from '../../server/forward-proxy/tokens.ts';
import { settingsList, writeSettingsList } from '../forward/certificate-lists.ts';
import { proxyAddressWith } from '../forward/environment.ts';
import { bypassesOf } from '../forward/bypasses.ts';
import { isAddress } from './addresses.ts';
import { clientVariables } from './client.ts';
import type { Change, Client, ClientFile, ClientSurroundings } from './client.ts';
import { formats } from './formats.ts';
import type { KeyPath } from './text-format.ts';

/** Suffix to the client's id in the list of changes. */
const SUFFIX = '-forward';
/** Shown instead of the token until `--apply` makes one. */
const PLACEHOLDER = '<token>';
const LOOPBACK_NAMES = 'localhost,127.0.0.1,::1';

/** What a client needs in its file if it reads its proxy from there. */
interface ProxyFile {
  readonly file: Pick<ClientFile, 'path' | 'format'>;
  /** Path of the object with the variables. */
  readonly within: KeyPath;
  /**
   * `added`: a list in addition to its own (Node, Bun). `whole`: a list that replaces the system's.
   */
  readonly trusts: 'added' | 'whole';
}

function proxyFileOf({ id, file }: Client): ProxyFile | undefined {
  if (id === 'codex')
    return {
      file: {
        path: ({ env, userHome }: ClientSurroundings) => join(codexFolder(userHome, env), '.env'),
        format: 'dotenv',
      },
      within: [],
      trusts: 'whole',
    };
  // Gemini CLI and Qwen Code also read a proxy from their .env, but by then Node has loaded its
  // certificates.
  return id === 'claude-code' && file !== undefined
    ? { file, within: ['env'], trusts: 'added' }
    : undefined;
}

export interface ForwardSettings {
  /** svc's home. */
  readonly home: string;
  /** Set for `--apply`; undefined to show the settings, and to recognize existing ones. */
  readonly granted?: Granted;
}

export interface Granted {
  readonly token: string;
  readonly authorityPem: string;
  /** The hosts that svc intercepts. */
  readonly hosts: readonly string[];
  /** Where the command was typed: a project there has settings of its own. */
  readonly cwd: string;
}

/**
 * Returns `client` with forward mode instead of the address.
 *
 * @throws SvcError `usage` for a client that reads no proxy from a file.
 */
export function withForward(client: Client, { home, granted }: ForwardSettings): Client {
  const proxyFile = proxyFileOf(client);
  if (proxyFile === undefined)
    throw new SvcError('usage', `${client.name} reads no proxy from its settings files`, {
      cure: `\`svc run --forward ${client.programs[0] ?? client.id}\` starts it that way, if it obeys HTTPS_PROXY.`,
    });
  const { format } = proxyFile.file;
  const { folder, certificate, bundle } = forwardFiles(home);
  const trusted: readonly [name: string, value: string] =
    proxyFile.trusts === 'added' ? ['NODE_EXTRA_CA_CERTS', certificate] : ['SSL_CERT_FILE', bundle];
  const at = (name: string): KeyPath => [...proxyFile.within, name];
  const list = settingsList(home, client.id);
  const changes = (url: string, trustedList = trusted[1]): readonly Change[] => [
    {
      path: at('HTTPS_PROXY'),
      value: proxyAddressWith(url, granted?.token ?? PLACEHOLDER),
      conflictCure:
        'Start svc with HTTPS_PROXY set to that proxy, and its own connections go through it.',
    },
    {
      path: at(trusted[0]),
      value: trustedList,
      includes: true,
    },
  ];
  const requiredChanges: ClientFile['requiredChanges'] = (url, text, where) => {
    // The user decides which hosts bypass every proxy.
    const isSet = formats[format].find(text, at('NO_PROXY')) !== undefined;
    const noProxyChange = isSet ? [] : [{ path: at('NO_PROXY'), value: LOOPBACK_NAMES }];
    const valueOf = (name: string): unknown => formats[format].find(text, at(name))?.value;
    const remarks = bypassesIn(valueOf, url);
    const userList = userListOf(valueOf(trusted[0]), proxyFile, where, folder);
    const isCombined = list !== undefined && (userList ?? valueOf(trusted[0])) !== undefined;
    if (granted !== undefined) {
      const { authorityPem, hosts, cwd } = granted;
      if (userList !== undefined && list !== undefined)
        remarks.push(
          writeSettingsList(list, resolve(cwd, userList), authorityPem)
            ? `What ${userList} (${trusted[0]}) lists stays trusted: svc's list contains a copy. Run --apply again when it changes.`
            : `${userList} (${trusted[0]}) is not a certificate list that svc can read and is ignored.`,
        );
      if (proxyFile.trusts === 'whole' && where.env['CODEX_CA_CERTIFICATE'])
        remarks.push(
          `${client.name} reads CODEX_CA_CERTIFICATE of this shell first: unset it, svc's list has its certificates.`,
        );
      const kept = { apart: proxyFile.file.path?.(where) ?? '' };
      remarks.push(
        ...bypassesOf(client.programs[0] ?? '', { ...where, cwd }, { home, url, hosts, kept }),
      );
    }
    const value =
      isCombined && list !== undefined && valueOf(trusted[0]) !== trusted[1] ? list : trusted[1];
    return { changes: [...changes(url, value), ...noProxyChange], remarks };
  };
  return {
    ...client,
    id: `${client.id}${SUFFIX}`,
    name: `${client.name} in forward mode`,
    file: {
      ...proxyFile.file,
      mayBeCreated: true,
      holdsSecret: true,
      requiredChanges,
      isOwn: (path, value) =>
        typeof value === 'string' &&
        ((path.at(-1) === 'HTTPS_PROXY' && tokenOf(value) !== undefined) ||
          value === trusted[1] ||
          value === list ||
          (path.at(-1) === 'NO_PROXY' && value === LOOPBACK_NAMES)),
    },
    settings: (url, present) => {
      const all =
        present === undefined
          ? [...changes(url), { path: at('NO_PROXY'), value: LOOPBACK_NAMES }]
          : requiredChanges(url, present.text, present.where).changes;
      if (format === 'dotenv') return all.map(({ path, value }) => `${path.at(-1)}=${value}`);
      const env = Object.fromEntries(all.map(({ path, value }) => [path.at(-1), value]));
      return JSON.stringify({ env }, undefined, 2).split('\n');
    },
    notes: [
      '--apply creates the token and, if there is none, the certificate authority; --undo revokes the token.',
      `For a single session: \`svc run --forward ${client.programs[0] ?? client.id}\`.`,
    ],
  };
}

/**
 * Returns the list that the client would trust without svc, from its settings or, if Node reads
 * both, from the shell; undefined if there is none, or it is one of svc's.
 */
function userListOf(
  inFile: unknown,
  { trusts }: ProxyFile,
  { env }: ClientSurroundings,
  folder: string,
): string | undefined {
  const named = typeof inFile === 'string' && inFile !== '' ? inFile : undefined;
  // svc's copy of the system list already includes the shell's other lists.
  const found = named ?? (trusts === 'added' ? env['NODE_EXTRA_CA_CERTS'] : undefined);
  return found === undefined || found === '' || found.startsWith(folder + sep) ? undefined : found;
}

/** Returns a sentence for each other setting in the file that affects where requests go. */
function bypassesIn(valueOf: (name: string) => unknown, url: string): string[] {
  const bases = Object.keys(clientVariables(url)).filter((name) => isAddress(valueOf(name)));
  const proxies = ['https_proxy', 'http_proxy', 'HTTP_PROXY'].filter(
    (name) => typeof valueOf(name) === 'string' && valueOf(name) !== '',
  );
  return [
    ...bases.map(
      (name) => `${name} is also set in the file: requests go there and bypass forward mode.`,
    ),
    ...proxies.map((name) => `${name} is also set in the file: some programs use it.`),
  ];
}

/** Returns the client id of a forward mode entry; undefined for any other entry. */
export function forwardedId(id: string): string | undefined {
  return id.endsWith(SUFFIX) ? id.slice(0, -SUFFIX.length) : undefined;
}

/** Returns the list's id for the forward mode of `id`. */
export const forwardIdOf = (id: string): string => `${id}${SUFFIX}`;

/** Returns the label of its token. */
export const tokenLabel = (id: string): string => `integrate ${id}`;

/** Returns the token in a proxy address made by svc. */
export function tokenOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { username, password } = new URL(value);
  return username === TOKEN_USER && password !== '' ? password : undefined;
}
