/**
 * Loads the plugins of the configuration and makes their stages. Any fault in one of them stops the
 * start or the reload: a redacting stage must not be missing unnoticed.
 */
import { readFile } from 'node:fs/promises';
import { SvcError, defineStage } from '../engine/index.ts';
import type {
  Clock,
  HandlerBehaviour,
  Handlers,
  Insertion,
  StageState,
  TransformBehaviour,
} from '../engine/index.ts';
import type { Recipe } from '../stages/compress/recipe/recipe.ts';
import type { Macro } from '../stages/macros/macro.ts';
import type { HeadFrame, ProxyFrame } from '../stages/model/frame.ts';
import { withoutHeaders } from '../stages/model/headers.ts';
import { PluginFaults, checkParts, checkPlugin } from './check-plugin.ts';
import { STREAM_TIMEOUT_MS, guardHandlers } from './guarded.ts';
import { guardOpen, guardSettled, guardWatch } from './guarded-callbacks.ts';
import { toHookStages } from './hooks.ts';
import { importDefault, loadInTime } from './module.ts';
import type { RunImport } from './module.ts';
import { lineOfPath } from './line-in-source.ts';
import type { HandlerStage, PluginStage, StreamStage } from './plugin-stage.ts';
import type { ProviderDefinition } from './provider.ts';
import { stageFault } from './stage-fault.ts';
import type { ReportFault } from './stage-fault.ts';
import { stageTools } from './stage-tools.ts';
import { timedStream } from './timed-stream.ts';
import type { PluginView } from './view.ts';

/** A plugin as configured: an absolute path, and the argument of its own check. */
export interface PluginEntry {
  readonly module: string;
  readonly config?: unknown;
}

export interface LoadedPlugin {
  readonly name: string;
  readonly module: string;
  /** The hash of the module's content. */
  readonly version: string;
  readonly insertions: readonly Insertion<ProxyFrame>[];
  /** Each with its name. */
  readonly providers: readonly (ProviderDefinition & { readonly name: string })[];
  readonly recipes: readonly Recipe[];
  readonly macros: readonly Macro[];
}

export interface LoadOptions {
  readonly clock: Clock;
  readonly report: ReportFault;
  readonly view: PluginView;
  readonly runImport?: RunImport;
}

/**
 * Loads all plugins. Throws `config` (CONFIG_002) that lists every plugin that cannot be used, with
 * file, line if known, and reason.
 */
export async function loadPlugins(
  entries: readonly PluginEntry[],
  options: LoadOptions,
): Promise<readonly LoadedPlugin[]> {
  const loaded: LoadedPlugin[] = [];
  const faults: string[] = [];
  for (const entry of entries) {
    try {
      const plugin = await load(entry, options);
      refuseDuplicates(plugin, loaded);
      loaded.push(plugin);
    } catch (thrown) {
      faults.push(...(await faultsOf(thrown, entry.module)).map((fault) => `  - ${fault}`));
    }
  }
  if (faults.length === 0) return loaded;
  throw new SvcError('config', `Plugins that cannot be used:\n${faults.join('\n')}`, {
    code: 'CONFIG_002',
    cure: 'Fix the file, or remove it from `plugins`.',
  });
}

/** Throws if two plugins provide what only one may. */
function refuseDuplicates(plugin: LoadedPlugin, loaded: readonly LoadedPlugin[]): void {
  for (const other of loaded) {
    if (other.name === plugin.name)
      throw new Error(`another plugin is called ${plugin.name} too (${other.module})`);
    for (const part of ['providers', 'macros'] as const) {
      const taken = new Set(other[part].map(({ name }) => name));
      const duplicate = plugin[part].find(({ name }) => taken.has(name));
      if (duplicate !== undefined)
        throw new PluginFaults([
          { path: [part], message: `${part}: plugin ${other.name} brings ${duplicate.name} too` },
        ]);
    }
  }
}

async function load(entry: PluginEntry, options: LoadOptions): Promise<LoadedPlugin> {
  const { clock, report, view, runImport = (_module, work) => work() } = options;
  const configured = { module: entry.module, name: entry.module };
  const { exported, version } = await importDefault(configured, runImport);
  const plugin = checkPlugin(exported);
  const { name, config, setup } = plugin;
  const checked = config === undefined ? entry.config : checkConfig(config(entry.config ?? {}));
  const returned: unknown =
    setup === undefined
      ? {}
      : await loadInTime(setup({ config: checked, tools: stageTools, view }));
  const { stages, hooks, ...parts } = checkParts(plugin, returned);
  const all = [...stages, ...hooks.flatMap((hook) => toHookStages(name, hook))];
  return {
    name,
    module: entry.module,
    version,
    insertions: all.map((stage) => toInsertion(name, stage, clock, report)),
    ...parts,
  };
}

/** An arktype type returns its faults as a list with a summary. */
function checkConfig(value: unknown): unknown {
  if (Array.isArray(value) && 'summary' in value && typeof value.summary === 'string')
    throw new Error(`config: ${value.summary}`);
  return value;
}

function toInsertion(
  plugin: string,
  stage: PluginStage,
  clock: Clock,
  report: ReportFault,
): Insertion<ProxyFrame> {
  const { name = plugin, before, after, order, needs, answers } = stage;
  const build = defineStage<ProxyFrame, undefined, undefined>({
    name,
    ...(needs !== undefined && { needs }),
    ...(answers !== undefined && { answers }),
    build: () =>
      'transform' in stage
        ? toStream(name, stage, clock, report)
        : toHandlers(name, stage, clock, report),
  });
  return {
    stage: build(undefined, undefined),
    plugin,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(order !== undefined && { order }),
  };
}

function toStream(
  node: string,
  { transform, settled, timeoutMs = STREAM_TIMEOUT_MS }: StreamStage,
  clock: Clock,
  report: ReportFault,
): TransformBehaviour<ProxyFrame> {
  return {
    ...(settled && { settled: guardSettled(node, settled, clock, report) }),
    transform(ctx) {
      try {
        return timedStream(transform(ctx), {
          node,
          timeoutMs,
          clock,
          report,
          emitted: (frame) => (frame.kind === 'head' ? withoutSize(frame) : frame),
        });
      } catch (thrown) {
        const fault = stageFault(node, thrown);
        report(fault.message, thrown);
        throw fault;
      }
    },
  };
}

function toHandlers(
  node: string,
  stage: HandlerStage,
  clock: Clock,
  report: ReportFault,
): HandlerBehaviour<ProxyFrame, StageState> {
  const { open, watch, settled, timeoutMs } = stage;
  const guarded = guardHandlers(node, stage, clock, report);
  return {
    ...(open && { open: guardOpen(node, open, report) }),
    ...(watch && { watch: guardWatch(watch) }),
    ...(settled && { settled: guardSettled(node, settled, clock, report, timeoutMs) }),
    on:
      guarded.chunk === undefined && guarded.end === undefined
        ? guarded
        : { ...guarded, head: unsizedHead(guarded.head) },
  };
}

/** Headers that are only valid for an unchanged body. */
const SIZED = new Set(['content-length', 'content-md5', 'digest', 'content-digest', 'repr-digest']);

function withoutSize(head: HeadFrame): HeadFrame {
  return { ...head, headers: withoutHeaders(head.headers, (name) => SIZED.has(name)) };
}

type HeadHandler = NonNullable<Handlers<ProxyFrame, unknown>['head']>;

/**
 * A stage that may change the body must not announce its length: a client would wait for missing
 * bytes or miss the rest.
 */
function unsizedHead(handle: HeadHandler = () => undefined): HeadHandler {
  return (sized, ctx) => {
    const head = withoutSize(sized);
    const handled = handle(head, ctx);
    if (handled instanceof Promise) return handled.then((value) => value ?? head);
    return handled ?? head;
  };
}

/** Returns each fault with the module's file, and the line if known. */
async function faultsOf(thrown: unknown, module: string): Promise<readonly string[]> {
  if (thrown instanceof PluginFaults) {
    const source = await readFile(module, 'utf8').catch(() => '');
    return thrown.faults.map(({ path, message }) => {
      const line = lineOfPath(source, path);
      return `${module}${line === undefined ? '' : `:${line}`}: ${message}`;
    });
  }
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return [`${module}${lineOf(thrown, module)}: ${why}`];
}

/** Returns `:12` if the stack of the error names a line of the module, else an empty string. */
function lineOf(thrown: unknown, module: string): string {
  const stack = thrown instanceof Error ? String(thrown.stack) : '';
  const file = module.split('/').at(-1) ?? module;
  const escaped = file.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const line = new RegExp(`/${escaped}(?:\\?v=[0-9a-f]+)?:(\\d+)`).exec(stack)?.[1];
  return line === undefined ? '' : `:${line}`;
}
