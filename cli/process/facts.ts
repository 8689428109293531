/** The facts about a proxy that has just started, and its first lines on the screen. */
import type { LoadedConfig } from '../../server/config/load.ts';
import { ledgerName } from '../../stages/ledger/address.ts';
import { toReachableUrl } from '../address.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import type { Colors } from '../screen/output.ts';
import { pairs } from '../screen/output.ts';

/** Plain data, since a background proxy sends it to the command that started it. */
export interface ServeFacts {
  readonly version: string;
  readonly pid: number;
  readonly url: string;
  readonly wsUrl: string;
  readonly home: string;
  /** The config file; null if there is none. */
  readonly configFile: string | null;
  /** Per provider with configured keys, the source of each key. Never a key. */
  readonly keys: readonly { readonly provider: string; readonly from: readonly string[] }[];
  readonly warnings: readonly string[];
  readonly ledger: string;
  readonly log: string;
}

const KEY_SETTINGS = ['api_key', 'oauth_token', 'oauth_token2'];

/** Last day of security fixes for each supported release line of Node. */
const END_OF_LIFE: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  23: '2025-06-01',
};

/** Returns the dashboard address of a proxy that listens on `url`. */
export function dashboardOf(url: string): string {
  return `${toReachableUrl(url)}/dashboard`;
}

/** Collects the facts of a listening proxy. */
export function factsOf(
  loaded: LoadedConfig,
  proxy: { readonly url: string; readonly wsPort: number },
  own: { readonly version: string; readonly logFile: string },
): ServeFacts {
  const { config, configFile, warnings } = loaded;
  const { logging, ledger } = config;
  const file = logging.destination === 'stdout' ? 'stdout' : own.logFile;
  return {
    version: own.version,
    pid: process.pid,
    url: proxy.url,
    wsUrl: socketUrl(proxy.url, proxy.wsPort),
    home: config.home,
    configFile: configFile ?? null,
    keys: keyOrigins(loaded),
    warnings,
    ledger: ledgerName(ledger.db),
    log: logging.enabled ? file : 'off',
  };
}

/** Returns the lines printed when a proxy listens. */
export function banner(facts: ServeFacts, context: CliContext, colors: Colors): string[] {
  const short = (path: string) => shortPath(path, context);
  const url = toReachableUrl(facts.url);
  const notes = [...facts.warnings, ...(endOfLifeNote(context.nodeVersion) ?? [])];
  return [
    `${colors.bold('svc')} ${facts.version} listens on ${colors.cyan(facts.url)} ${colors.dim(`(WebSocket ${facts.wsUrl})`)}`,
    '',
    ...pairs(colors, [
      ['Claude Code', `ANTHROPIC_BASE_URL=${url} claude`],
      ['OpenAI SDK', `OPENAI_BASE_URL=${url}/v1`],
    ]),
    '',
    ...pairs(colors, [
      [
        'Config',
        facts.configFile === null
          ? 'defaults (`svc config init` writes a file)'
          : short(facts.configFile),
      ],
      ['Keys', keysLine(facts.keys)],
      ['Ledger', short(facts.ledger)],
      ['Log', short(facts.log)],
    ]),
    ...(notes.length === 0 ? [] : ['']),
    ...notes.map((text) => `  ${colors.yellow('!')} ${text}`),
  ];
}

/** Returns one line in a list about a Node version without further fixes; undefined otherwise. */
export function endOfLifeNote(nodeVersion: string): [string] | undefined {
  const [major = ''] = nodeVersion.split('.');
  const end = END_OF_LIFE[major];
  return end === undefined
    ? undefined
    : [`Node ${major} has had no security fixes since ${end}; 22 or 24 is the safer place to run`];
}

function keysLine(keys: ServeFacts['keys']): string {
  if (keys.length === 0) return "none configured: each client's own key goes through";
  const known = keys.map(({ provider, from }) => `${provider} from ${from.join(', ')}`);
  return `${known.join('; ')}; a client's own key wins`;
}

/** Returns the source of each key, per provider with configured keys. */
export function keyOrigins({ config, provenance }: LoadedConfig): ServeFacts['keys'] {
  return Object.keys(config.providers).flatMap((provider) => {
    const from = KEY_SETTINGS.flatMap((name) => {
      const one = provenance.get(`providers.${provider}.${name}`);
      return one === undefined || one.value === null ? [] : [one.where];
    });
    return from.length === 0 ? [] : [{ provider, from }];
  });
}

function socketUrl(url: string, wsPort: number): string {
  const target = new URL(url);
  return `ws://${target.hostname}:${wsPort}/ws`;
}
