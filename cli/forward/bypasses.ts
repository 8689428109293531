/**
 * Finds settings by which a client bypasses forward mode: its variables, and its own settings
 * files.
 */
import { resolve } from 'node:path';
import { forwardFiles } from '../../server/forward-proxy/ca/files.ts';
import { TOKEN_USER } from '../../server/forward-proxy/tokens.ts';
import { exemptions } from '../../server/outbound/no-proxy.ts';
import { shortPath } from '../context.ts';
import { clientVariables } from '../integrate/client.ts';
import { CLOUD_SWITCHES, clientSettings } from './client-settings.ts';
import type { Setting, ClientStart } from './client-settings.ts';

interface Interception {
  /** svc's home. */
  readonly home: string;
  /** Address of the proxy, without a trailing slash. */
  readonly url: string;
  /** The intercepted hosts. */
  readonly hosts: readonly string[];
  /**
   * Set if svc writes the client's settings file `apart` and does not start it: the shell's base
   * URL then stays.
   */
  readonly kept?: { readonly apart: string };
}

/**
 * Clients of one vendor: the hosts they use with a key or a login, and the variables that select
 * another host.
 */
const MAKERS: Readonly<
  Record<string, { readonly hosts: readonly string[]; readonly variables: RegExp }>
> = {
  claude: { hosts: ['api.anthropic.com'], variables: /^(?:ANTHROPIC|CLAUDE_CODE)_/ },
  codex: { hosts: ['api.openai.com', 'chatgpt.com'], variables: /^OPENAI_/ },
  gemini: { hosts: ['generativelanguage.googleapis.com'], variables: /^GOOGLE_/ },
};

/** A switch that is not set. */
const SWITCHED_OFF = /^(?:0|false|no|off|)$/i;

type NamedSetting = Omit<Setting, 'file'> & Partial<Pick<Setting, 'file'>>;

/**
 * Returns a sentence for each way in which `program` would bypass svc, or refuse its certificate.
 */
export function bypassesOf(
  program: string,
  where: ClientStart,
  interception: Interception,
): readonly string[] {
  const { variables, bases, clouds } = clientSettings(program, where);
  const inFiles = new Set(variables.map(({ name }) => name));
  // A file's value overrides the shell's.
  const own = Object.entries(where.env).flatMap(([name, value]) =>
    value === undefined || inFiles.has(name) || !isForeignShellVariable(name, interception)
      ? []
      : [{ name, value }],
  );
  const say = (one: NamedSetting): readonly string[] => remarkOn(one, where, interception);
  const ways = [
    ...own.flatMap(say),
    ...variables.filter(({ file }) => file !== interception.kept?.apart).flatMap(say),
    ...bases.flatMap((base) => baseRemark(base, where, interception)),
    ...clouds.map((one) => cloudRemark(settingText(one, where), one.cloud)),
  ];
  const { hosts = [], variables: names } = MAKERS[program] ?? {};
  const isSvc = ({ value }: NamedSetting): boolean =>
    URL.canParse(value) && new URL(value).host === new URL(interception.url).host;
  // `svc run` removes its own address from the shell's environment.
  const stated = [
    ...own.filter((one) => interception.kept !== undefined || !isSvc(one)),
    ...variables,
  ];
  const goesElsewhere = stated.some((one) => names?.test(one.name) === true && isOn(one));
  return goesElsewhere || bases.length > 0 || clouds.length > 0
    ? ways
    : [...ways, ...makerRemark(program, hosts, interception.hosts)];
}

/** True for a cloud that is switched on, and for an address. */
function isOn({ name, value }: NamedSetting): boolean {
  return name in CLOUD_SWITCHES ? !SWITCHED_OFF.test(value) : URL.canParse(value);
}

/**
 * A provider with another address takes the place of the built-in one, whose host is then
 * tunnelled.
 */
function makerRemark(
  program: string,
  hosts: readonly string[],
  interception: readonly string[],
): readonly string[] {
  const [host] = hosts;
  if (host === undefined || hosts.some((one) => interception.includes(one))) return [];
  return [
    `${host}, which ${program} asks, is not intercepted, since its provider here has another address: its requests bypass svc unread. \`svc run ${program}\` uses that provider by base URL`,
  ];
}

/**
 * True for shell variables that svc does not set itself; NO_PROXY is kept, unless the client's own
 * settings have one.
 */
function isForeignShellVariable(name: string, { kept }: Interception): boolean {
  return (
    name in clientVariables('') ||
    name in CLOUD_SWITCHES ||
    (name === 'NO_PROXY' && kept === undefined)
  );
}

function cloudRemark(spelling: string, cloud: string): string {
  return `${spelling} makes it ask ${cloud}, whose hosts svc does not intercept: requests to it bypass svc`;
}

function remarkOn(
  one: NamedSetting,
  where: ClientStart,
  interception: Interception,
): readonly string[] {
  const { name, value } = one;
  const spelling = settingText(one, where);
  const cloud = CLOUD_SWITCHES[name];
  if (cloud !== undefined) return SWITCHED_OFF.test(value) ? [] : [cloudRemark(spelling, cloud)];
  if (/^no_proxy$/i.test(name))
    return exemptHosts(value, interception.hosts).map(
      (host) => `${spelling} names ${host}, so its requests bypass svc`,
    );
  if (/^https_proxy$/i.test(name)) return proxyRemark(spelling, value, interception.url);
  if (name.includes('CERT')) return listRemark(spelling, value, where, interception);
  return baseRemark(one, where, interception);
}

function baseRemark(
  base: NamedSetting,
  where: ClientStart,
  { url, hosts, kept }: Interception,
): readonly string[] {
  const to = URL.canParse(base.value) ? new URL(base.value) : undefined;
  if (to === undefined || to.host === '') return [];
  const spelling = settingText(base, where);
  if (to.host === new URL(url).host) {
    // `svc run` removes it from the shell's environment.
    return base.file === undefined && kept === undefined
      ? []
      : [
          `${spelling} is svc's own address: its requests go there by base URL, and not in forward mode`,
        ];
  }
  const isOpened = to.protocol === 'https:' && to.port === '' && hosts.includes(to.hostname);
  return isOpened ? [] : [`${spelling} points to ${to.host}: requests to it bypass svc`];
}

function proxyRemark(spelling: string, value: string, url: string): readonly string[] {
  // A proxy may be given without a scheme.
  const text = value.includes('://') ? value : `http://${value}`;
  if (!URL.canParse(text)) return [];
  const { host, username } = new URL(text);
  if (username === TOKEN_USER && host === new URL(url).host) return [];
  return [
    `${spelling} points to ${host} instead of svc: its requests bypass svc. Remove it there, and start svc with it as its own HTTPS_PROXY`,
  ];
}

function listRemark(spelling: string, value: string, where: ClientStart, { home }: Interception) {
  const { folder, certificate } = forwardFiles(home);
  if (resolve(where.cwd, value).startsWith(`${folder}/`)) return [];
  return [
    `${spelling} may take the place of the list that svc gives it; if it then refuses svc's certificate, add ${shortPath(certificate, where)} to that list`,
  ];
}

function settingText({ name, file }: NamedSetting, where: ClientStart): string {
  const inShell = file === undefined || file === name;
  return inShell ? name : `${name} in ${shortPath(file, where)}`;
}

/**
 * Returns those of `hosts` that `noProxy`, a list in the form of `NO_PROXY`, exempts from the
 * proxy.
 */
export function exemptHosts(noProxy: string, hosts: readonly string[]): readonly string[] {
  const isExempt = exemptions(noProxy);
  return hosts.filter((hostname) => isExempt({ protocol: 'https:', hostname, port: '' }));
}
