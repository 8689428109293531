/** `svc provider-status|provider-force-health|list-models`: the providers and their models. */
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { ProviderModel } from '../../server/control/list-models.ts';
import { conditionOf } from '../../server/words/problems.ts';
import type { ProviderStateJson } from '../../server/facts/provider-states.ts';
import { configOf } from '../parse/flags.ts';
import { figure } from '../screen/output.ts';
import type { Colors } from '../screen/output.ts';
import { usd } from '../screen/prices.ts';
import { paintOf } from '../tui/grid.ts';
import { control, controlIfRunning } from '../remote.ts';

interface ProvidersJson {
  readonly providers: Readonly<Record<string, ProviderStateJson>>;
}

interface ModelsJson {
  readonly models: readonly ProviderModel[];
}

class ProviderStatus extends JsonCommand {
  static override paths = [['provider-status']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Health, breaker, keys and rate of each provider',
    details: 'Keys are identified by their position in the configuration and never shown.',
    examples: [
      ['All providers', '$0 provider-status'],
      ['One, with its keys', '$0 provider-status messages'],
    ],
  });

  provider = Option.String({ required: false });

  async execute() {
    const { provider } = this;
    const { providers } = await control<ProvidersJson>(this.home, 'provider-status');
    if (provider === undefined) {
      if (this.json) this.printJson({ providers });
      else this.printStates(providers);
      return;
    }
    const state = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
    if (state === undefined) throw unknownProvider(provider, Object.keys(providers));
    if (this.json) this.printJson({ providers: { [provider]: state } });
    else this.printState(state);
  }

  private printStates(providers: Readonly<Record<string, ProviderStateJson>>): void {
    const { colors } = this;
    const rows = Object.entries(providers).map(([name, state]) => [
      name,
      healthOf(state, colors),
      breakerOf(state, colors),
      keysOf(state),
      paceOf(state),
    ]);
    this.printTable(['provider', 'health', 'breaker', 'keys', 'pace'], rows);
  }

  private printState(state: ProviderStateJson): void {
    const { colors } = this;
    const rows = [
      ['health', healthOf(state, colors)],
      ['breaker', breakerOf(state, colors)],
      ['pace', paceOf(state)],
      ['keys', keysOf(state)],
    ] as const;
    this.printPairs(rows);
    if (state.keys.length === 0) return;
    this.print();
    this.printTable(
      ['key', 'state', '>rests', '>sent', '>429', '>401'],
      state.keys.map((key) => [
        key.label,
        key.state,
        key.wait_s > 0 ? `${Math.ceil(key.wait_s)} s` : '–',
        figure(key.picked),
        figure(key.limited),
        figure(key.refused),
      ]),
    );
  }
}

class ForceHealth extends JsonCommand {
  static override paths = [['provider-force-health']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Set a provider to healthy or unhealthy by hand',
    details:
      '`healthy` also closes its circuit breaker. `unhealthy` lasts until `healthy` is set: the provider is used only when there is no fallback.',
    examples: [
      ['It works again', '$0 provider-force-health messages healthy'],
      ['Use the fallback for now', '$0 provider-force-health messages unhealthy'],
    ],
  });

  provider = Option.String();
  state = Option.String({ name: 'healthy|unhealthy' });

  async execute() {
    const { provider, state } = this;
    if (state !== 'healthy' && state !== 'unhealthy') {
      throw new SvcError('usage', `A provider is healthy or unhealthy, not '${state}'`);
    }
    const result = await control(this.home, 'provider-force-health', { provider, state });
    if (this.json) this.printJson(result);
    else this.print(`${provider} is set to ${state} by hand`);
  }
}

class ListModels extends JsonCommand {
  static override paths = [['list-models']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The models of a provider, prices and context windows',
    details:
      'Requested through the running proxy with its keys, or directly with the configured key when none is running. Prices are US dollars per million tokens.',
    examples: [['Models of the messages provider', '$0 list-models messages']],
  });

  provider = Option.String();
  config = Option.String('--config', { description: 'Config file, used when no proxy is running' });

  async execute() {
    const models = (await this.modelsFromProxy()) ?? (await this.modelsFromProviders());
    if (this.json)
      return this.printJson({ provider: this.provider, models: models.map(modelJson) });
    if (models.length === 0) this.note(`${this.provider} lists no models.`);
    else {
      const header = ['model', '>context', '>in $/1M', '>out $/1M'];
      const rows = models.map((model) => [
        model.id,
        figure(model.contextWindow),
        usd(model.inputUsdPer1m),
        usd(model.outputUsdPer1m),
      ]);
      this.printTable(header, rows);
    }
  }

  /** Asks the running proxy for the models; undefined if none runs. */
  private async modelsFromProxy(): Promise<readonly ProviderModel[] | undefined> {
    const { provider } = this;
    return (await controlIfRunning<ModelsJson>(this.home, 'list-models', { provider }))?.models;
  }

  private async modelsFromProviders(): Promise<readonly ProviderModel[]> {
    const { context, config } = this;
    const loaded = await configOf(config, context);
    const { listModelsDirectly: askDirectly } =
      await import('../../server/control/provider-models.ts');
    return askDirectly(loaded.config, this.provider, context.env, context.clock.wallMs());
  }
}

function healthOf(state: ProviderStateJson, colors: Colors): string {
  const { health, stopped, breaker } = state;
  if (stopped !== null) return colors.red('stopped, see `svc status`');
  if (health.state === 'healthy' && breaker.state === 'closed') {
    // As on the dashboards: a dash if nothing was sent to the provider.
    const [word, tone] = conditionOf(state);
    return paintOf(tone, colors)(word);
  }
  if (health.state === 'healthy') return colors.green('healthy');
  const until =
    health.recovers_in_s === null ? '' : `, checked in ${Math.ceil(health.recovers_in_s)} s`;
  return colors.red(`unhealthy (${health.reason ?? 'unknown'}${until})`);
}

function breakerOf({ breaker }: ProviderStateJson, colors: Colors): string {
  const { state, failures, requests } = breaker;
  const window = `${failures} of ${requests} failed`;
  if (state === 'open') return colors.red(`open for ${Math.ceil(breaker.open_for_s)} s, ${window}`);
  return requests === 0 ? state : `${state}, ${window}`;
}

function keysOf({ keys, needs_key: isNeeded }: ProviderStateJson): string {
  if (keys.length === 0) return isNeeded ? 'the clients’ own' : 'none needed';
  const usable = keys.filter((key) => key.state === 'usable').length;
  return `${usable} of ${keys.length} usable`;
}

function paceOf({ pace }: ProviderStateJson): string {
  if (pace === null) return 'no limit';
  return `${pace.started} of ${pace.rpm} a minute, ${pace.waiting} waiting`;
}

function unknownProvider(name: string, known: readonly string[]): SvcError {
  return new SvcError('not_found', `There is no provider '${name}'; there are ${known.join(', ')}`);
}

function modelJson(model: ProviderModel) {
  return {
    id: model.id,
    name: model.name,
    context_window: model.contextWindow,
    input_usd_per_1m: model.inputUsdPer1m,
    output_usd_per_1m: model.outputUsdPer1m,
  };
}

export const commands = [ProviderStatus, ForceHealth, ListModels];
