/**
 * `svc setup`: from nothing to a running proxy with clients pointed at it. Asks first, acts
 * afterwards.
 */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import type { ErrorKind } from '../../engine/error.ts';
import { loadWithText } from '../config-file.ts';
import { shortPath } from '../context.ts';
import { exitCodes } from '../exit.ts';
import { textOf } from '../integrate/settings-file.ts';
import type { Wiring } from '../integrate/wiring.ts';
import { colorsFor, figure } from '../screen/output.ts';
import { toMode } from '../parse/flags.ts';
import { openPrompts } from '../prompts/prompts.ts';
import type { Prompts } from '../prompts/choice.ts';
import { requestModels, pointClient, testRequest, startProxy, writeConfig } from './steps.ts';
import type {
  ProviderModels,
  PointedClient,
  TestRequest,
  RunningProxyFacts,
  WrittenConfig,
} from './steps.ts';
import { withChosen } from './config-text.ts';
import { detectSetup } from './detect.ts';
import type { DetectedSetup } from './detect.ts';
import { foundLines, planLines } from './plan.ts';
import type { Plan } from './plan.ts';
import {
  SUBSCRIPTION_CHOICES,
  SUBSCRIPTION_QUESTION,
  SUBSCRIPTION_SETTING,
  SUBSCRIPTION_USES,
  subscriptionText,
} from './subscription.ts';
import type { SubscriptionUse } from './subscription.ts';

const MODES = [
  { value: 'hybrid', label: 'hybrid', hint: 'compresses tool output and pasted text, not code' },
  { value: 'strict', label: 'strict', hint: 'nothing is changed' },
  { value: 'aggressive', label: 'aggressive', hint: 'also compresses code and configuration' },
] as const;

/** Completed steps. */
interface Outcome {
  readonly config: WrittenConfig;
  readonly proxy: RunningProxyFacts;
  readonly proof: TestRequest;
  readonly modelLists: readonly ProviderModels[];
  readonly clients: readonly PointedClient[];
}

class Setup extends SvcCommand {
  static override paths = [['setup']];
  static override usage = Command.Usage({
    category: 'Configure',
    description: 'Set up svc: find keys and clients, start, test',
    details:
      'It asks, shows everything that it is going to do, and does nothing before you agree; if the input ends or you interrupt it, nothing is changed. Keys stay where they are. Providers are contacted only if you say so.',
    examples: [
      ['Step by step', '$0 setup'],
      ['Accept all proposals, and contact no provider', '$0 setup --yes'],
      ['Compress the requests of a subscription too', '$0 setup --yes --subscription rewrite'],
      ['Leave the settings of clients alone', '$0 setup --yes --keep-clients'],
    ],
  });

  yes = Option.Boolean('--yes,-y', false, { description: 'Accept all proposals' });
  mode = Option.String('--mode', { description: 'Compression: hybrid, strict or aggressive' });
  subscription = Option.String('--subscription', {
    description: "A subscription's requests: look (default) or rewrite",
  });
  online = Option.Boolean('--online', false, {
    description: 'Ask each provider with a key for its models, which costs nothing',
  });
  keepClients = Option.Boolean('--keep-clients', false, {
    description: 'Do not change the settings of clients',
  });
  json = Option.Boolean('--json,--raw', false, { description: 'The outcome as JSON' });

  async execute() {
    const { context, mode } = this;
    if (mode !== undefined) await toMode(mode);
    const preset = this.preset();
    const found = await detectSetup(context);
    const colors = colorsFor(context.stderr, context.env);
    for (const line of foundLines(found, context, colors)) this.note(line);
    this.note('');
    const prompts = this.yes ? undefined : await openPrompts(context);
    let plan: Plan;
    try {
      plan = await this.plan(found, prompts, preset);
      if (prompts !== undefined) this.note('');
      for (const line of planLines(plan, found, context, colors)) this.note(line);
      if (prompts !== undefined && !(await prompts.confirm('Go ahead?', true)))
        throw new SvcError('cancelled', 'Not confirmed: nothing was changed');
    } finally {
      prompts?.close();
    }
    // The new text must load before it is written.
    if (plan.config !== undefined) await loadWithText(plan.config, found.file, context);
    this.note('');
    const outcome = await this.act(plan, found);
    if (this.json) this.printJson(outcomeJson(outcome));
    return exitCodeOf(outcome);
  }

  private preset(): SubscriptionUse | undefined {
    const { subscription } = this;
    if (subscription === undefined) return undefined;
    const use = SUBSCRIPTION_USES.find((one) => one === subscription);
    if (use !== undefined) return use;
    throw new SvcError(
      'usage',
      `--subscription takes ${SUBSCRIPTION_USES.join(' or ')}, not '${subscription}'`,
    );
  }

  private async plan(
    found: DetectedSetup,
    prompts: Prompts | undefined,
    preset: SubscriptionUse | undefined,
  ): Promise<Plan> {
    const { loaded, keys, file, takenPort, port } = found;
    const set = loaded.provenance.get('compression.mode');
    const isModeSet = set !== undefined && set.source !== 'default';
    const current = loaded.config.compression.mode;
    if (set?.source === 'environment' && this.mode !== undefined && this.mode !== current)
      throw new SvcError('conflict', `${set.where} is ${current} and wins over the config file`, {
        cure: `Unset ${set.where}, or leave --mode out.`,
      });
    const mode =
      this.mode ??
      (isModeSet
        ? current
        : await prompts?.choose('How much may be compressed?', MODES, current)) ??
      current;
    const { isLikely, decided } = found.subscription;
    const answered = preset ?? (await this.askSubscription(found, prompts));
    const chosen = {
      ...(mode !== current || !isModeSet ? { 'compression.mode': mode } : {}),
      ...(answered === undefined || answered === decided
        ? {}
        : { [SUBSCRIPTION_SETTING]: answered === 'rewrite' }),
      ...(takenPort === undefined ? {} : { 'server.port': port }),
    };
    const configBefore = textOf(file);
    const config = withChosen(configBefore, chosen);
    return {
      config: config === configBefore ? undefined : config,
      configBefore,
      mode,
      subscription: answered ?? (isLikely ? (decided ?? 'look') : undefined),
      clients: await this.askForClients(found, prompts),
      providers: (await this.askToListModels(found, prompts))
        ? keys.map(({ provider }) => provider)
        : [],
    };
  }

  /** Undefined if the question does not arise, was answered before, or no user is present. */
  private async askSubscription(
    { subscription: { isLikely, decided } }: DetectedSetup,
    prompts: Prompts | undefined,
  ): Promise<SubscriptionUse | undefined> {
    if (!isLikely || decided !== undefined || prompts === undefined) return undefined;
    const answer = await prompts.choose(SUBSCRIPTION_QUESTION, SUBSCRIPTION_CHOICES, 'look');
    return SUBSCRIPTION_USES.find((one) => one === answer);
  }

  private async askForClients({ clients }: DetectedSetup, prompts: Prompts | undefined) {
    if (this.keepClients) return [];
    const open = clients.filter(canBePointed).map(({ client }) => client);
    if (open.length === 0 || prompts === undefined) return open;
    const values = await prompts.several(
      'Which clients should go through svc?',
      open.map(({ id, name }) => ({ value: id, label: name })),
    );
    return open.filter(({ id }) => values.includes(id));
  }

  private async askToListModels(
    { keys }: DetectedSetup,
    prompts: Prompts | undefined,
  ): Promise<boolean> {
    if (keys.length === 0) return false;
    if (this.online || prompts === undefined) return this.online;
    const names = keys.map(({ provider }) => provider).join(', ');
    return prompts.confirm(
      `Try your keys? ${names}: this asks for the list of models, which costs nothing.`,
      false,
    );
  }

  private async act(plan: Plan, found: DetectedSetup): Promise<Outcome> {
    const { context } = this;
    const { home } = found;
    const { colors } = this;
    const printStep = (name: string, text: string, error: string | null = null) => {
      const sign = error === null ? colors.green('✓') : colors.red('✗');
      if (!this.json) this.print(`${sign} ${name.padEnd(8)}  ${error ?? text}`);
    };
    const config = await writeConfig(plan, found, context);
    const short = shortPath(config.path, context);
    const copy =
      config.backup === null ? '' : `; previous file: ${shortPath(config.backup, context)}`;
    if (config.outcome !== 'kept') printStep('Config', `${short} ${config.outcome}${copy}`);
    const proxy = await startProxy(config.outcome !== 'kept', found, context);
    printStep(
      'Proxy',
      `${proxy.outcome} on ${proxy.url} (pid ${proxy.pid}), health ${proxy.health}`,
    );
    const proof = await testRequest(plan.mode, context);
    printStep(
      'Test',
      `answered with ${proof.status}; of ${figure(proof.inputTokens)} tokens ${figure(proof.savedTokens)} saved`,
    );
    const answers: ProviderModels[] = [];
    for (const provider of plan.providers) {
      const one = await requestModels(home, provider);
      printStep(
        'Provider',
        `${provider} takes the key and lists ${figure(one.models)} models`,
        one.error,
      );
      answers.push(one);
    }
    const clients: PointedClient[] = [];
    for (const client of plan.clients)
      clients.push(await pointClient(client, proxy.url, home, context));
    for (const { name, error } of clients)
      printStep('Client', `${name} goes through svc now; restart it`, error && `${name}: ${error}`);
    if (!this.json) this.printNext(found, plan, clients);
    return { config, proxy, proof, modelLists: answers, clients };
  }

  private printNext(
    { keys, file }: DetectedSetup,
    { subscription }: Plan,
    clients: readonly PointedClient[],
  ): void {
    this.note('');
    if (subscription !== undefined)
      this.note(subscriptionText(subscription, shortPath(file.path, this.context)));
    if (clients.every(({ error }) => error !== null))
      this.note('`svc run <client>` starts a client through svc, `svc integrate` lists them.');
    else this.note('`svc integrate --undo` reverts the settings of clients.');
    if (keys.some(({ from }) => from.some((one) => /^[A-Z][A-Z0-9_]*$/.test(one))))
      this.note('Keys come from this shell’s environment: start svc where they are set.');
    this.note('`svc status` shows what goes through, `svc stop` stops the proxy.');
  }
}

/** True for clients whose file svc may write, and that do not use it yet. */
function canBePointed({ client, file, wired, isForward, fault }: Wiring): boolean {
  return (
    client.file !== undefined && file !== null && fault === null && wired !== 'yes' && !isForward
  );
}

function outcomeJson({ config, proxy, proof, modelLists, clients }: Outcome) {
  return {
    config,
    proxy,
    test: {
      status: proof.status,
      input_tokens: proof.inputTokens,
      saved_tokens: proof.savedTokens,
    },
    providers: modelLists.map(({ provider, models, error }) => ({ provider, models, error })),
    clients: clients.map(({ client, file, backup, error }) => ({ client, file, backup, error })),
  };
}

function exitCodeOf({ modelLists, clients }: Outcome): number {
  const kind = [...modelLists, ...clients].find(
    (one): one is typeof one & { kind: ErrorKind } => one.kind !== null,
  )?.kind;
  return kind === undefined ? 0 : exitCodes[kind];
}

export const commands = [Setup];
