/** The plan of `svc setup`, decided before anything is done, and its display. */
import type { Client } from '../integrate/client.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import type { Colors } from '../screen/output.ts';
import { pairs } from '../screen/output.ts';
import { lineDiff } from '../preview/line-diff.ts';
import type { DetectedSetup } from './detect.ts';
import { SUBSCRIPTION_STEPS } from './subscription.ts';
import type { SubscriptionUse } from './subscription.ts';

export interface Plan {
  /** The new config file; undefined if it stays unchanged. */
  readonly config: string | undefined;
  /** The current text; empty if there is none. */
  readonly configBefore: string;
  /** Compression mode of the test request. */
  readonly mode: string;
  /** Treatment of a subscription's requests; undefined if there seems to be no subscription. */
  readonly subscription: SubscriptionUse | undefined;
  readonly clients: readonly Client[];
  /** Providers to ask for their models. */
  readonly providers: readonly string[];
}

/** Returns the lines about the machine. */
export function foundLines(found: DetectedSetup, context: CliContext, colors: Colors): string[] {
  const { keys, clients, running, loaded, takenPort } = found;
  const rows: [string, string][] = [
    [
      'Keys',
      keys.length === 0
        ? "none: each client's own key goes through"
        : keys.map(({ provider, from }) => `${provider} from ${from.join(', ')}`).join('; '),
    ],
    [
      'Clients',
      clients.length === 0
        ? 'none that svc knows'
        : clients
            .map(({ client, wired }) => `${client.name}${wired === 'yes' ? ' (through svc)' : ''}`)
            .join(', '),
    ],
    [
      'Config',
      loaded.configFile === undefined ? 'none yet' : shortPath(loaded.configFile, context),
    ],
    ['Proxy', running?.url === undefined ? 'not running' : `running on ${running.url}`],
  ];
  if (takenPort !== undefined) rows.push(['Port', `${takenPort} is taken by another program`]);
  return pairs(colors, rows);
}

/** Returns the lines about the plan: the config file in full or as a diff, then the steps. */
export function planLines(
  plan: Plan,
  found: DetectedSetup,
  context: CliContext,
  colors: Colors,
): readonly string[] {
  const { config, configBefore } = plan;
  const { running, url, port } = found;
  const path = shortPath(found.file.path, context);
  const lines: string[] = [];
  if (config !== undefined && configBefore === '')
    lines.push(
      colors.bold(`New file ${path}, readable only by you:`),
      '',
      ...config.trimEnd().split('\n').map(indented),
      '',
    );
  else if (config !== undefined)
    lines.push(
      colors.bold(`Changes to ${path}, of which a copy is kept:`),
      '',
      ...lineDiff(configBefore, config, { colors, full: true }).map(indented),
      '',
    );
  const steps = [
    config === undefined ? undefined : `write ${path}`,
    running !== undefined
      ? config !== undefined && 'have the running proxy read it'
      : `start the proxy in the background${port === 0 ? '' : ` on ${url}`}`,
    'send a test request through a second, temporary proxy to a built-in provider: no key, no network',
    plan.subscription !== undefined && SUBSCRIPTION_STEPS[plan.subscription],
    ...plan.providers.map((name) => `ask ${name} for its models, with your key: costs nothing`),
    ...plan.clients.map(
      (client) => `point ${client.name} at it (${fileOf(client, found, context)})`,
    ),
  ];
  lines.push(colors.bold('svc setup is going to'));
  for (const step of steps) if (typeof step === 'string') lines.push(`  - ${step}`);
  return lines;
}

function fileOf(client: Client, { clients }: DetectedSetup, context: CliContext): string {
  const file = clients.find((one) => one.client === client)?.file ?? '';
  return shortPath(file, context);
}

function indented(line: string): string {
  return line === '' ? '' : `  ${line}`;
}
