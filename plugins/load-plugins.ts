/**
 * Loads the plugins of the configuration and makes their stages. Anything that is wrong with one
 * of them stops the start or the reload: a stage that redacts must not be missing unnoticed.
 */
import { SvcError, defineStage } from '../engine/index.ts';
import type { Clock, Handlers, Insertion } from '../engine/index.ts';
import { checkRecipe } from '../stages/compress/recipe/check.ts';
import type { Recipe } from '../stages/compress/recipe/recipe.ts';
import type { HeadFrame, ProxyFrame } from '../stages/model/frame.ts';
import { withoutHeaders } from '../stages/model/headers.ts';
import { guarded } from './guarded.ts';
import type { ReportFault } from './guarded.ts';
import { importDefault } from './module.ts';
import type { RunImport } from './module.ts';
import type { PluginDefinition, PluginSetup, PluginStage } from './plugin.ts';
import { stageTools } from './stage-tools.ts';
import type { PluginView } from './view.ts';

/** A plugin as configured: an absolute path, and what its own check gets. */
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
  readonly recipes: readonly Recipe[];
}

export interface LoadOptions {
  readonly clock: Clock;
  readonly report: ReportFault;
  readonly view: PluginView;
  readonly runImport?: RunImport;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Throws `config` (CONFIG_002) with every plugin that cannot be used, its file, its line where known, and why. */
export async function loadPlugins(
  entries: readonly PluginEntry[],
  options: LoadOptions,
): Promise<readonly LoadedPlugin[]> {
  const loaded: LoadedPlugin[] = [];
  const faults: string[] = [];
  for (const entry of entries) {
    try {
      const plugin = await load(entry, options);
      if (loaded.some(({ name }) => name === plugin.name))
        throw new Error(`another plugin is called ${plugin.name} too`);
      loaded.push(plugin);
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      faults.push(`  - ${entry.module}${lineOf(thrown, entry.module)}: ${why}`);
    }
  }
  if (faults.length === 0) return loaded;
  throw new SvcError('config', `Plugins that cannot be used:\n${faults.join('\n')}`, {
    code: 'CONFIG_002',
    cure: 'Mend the file, or take it out of `plugins`.',
  });
}

async function load(entry: PluginEntry, options: LoadOptions): Promise<LoadedPlugin> {
  const { clock, report, view, runImport = (_module, work) => work() } = options;
  const source = { module: entry.module, name: entry.module };
  const { exported, version } = await importDefault(source, runImport);
  const { name, config, setup } = checkPlugin(exported);
  const checked = config === undefined ? entry.config : checkConfig(config(entry.config ?? {}));
  const { stages, recipes = [] } = checkSetup(
    await setup({ config: checked, tools: stageTools, view }),
  );
  const insertions = stages.map((stage) => toInsertion(name, stage, clock, report));
  return {
    name,
    module: entry.module,
    version,
    insertions,
    recipes: recipes.map(toRecipe),
  };
}

function checkPlugin(exported: unknown): PluginDefinition {
  const plugin = exported as Partial<PluginDefinition> | null | undefined;
  if (typeof plugin !== 'object' || plugin === null)
    throw new Error('its default export is not a plugin: an object with name and setup');
  if (typeof plugin.name !== 'string' || !NAME.test(plugin.name))
    throw new Error('name: letters, digits, - and _ are wanted');
  if (typeof plugin.setup !== 'function') throw new Error('setup: a function is wanted');
  if (plugin.config !== undefined && typeof plugin.config !== 'function')
    throw new Error('config: an arktype type or a function is wanted');
  return plugin as PluginDefinition;
}

/** An arktype type returns its faults as a list with a summary. */
function checkConfig(value: unknown): unknown {
  if (Array.isArray(value) && 'summary' in value && typeof value.summary === 'string')
    throw new Error(`config: ${value.summary}`);
  return value;
}

function checkSetup(result: unknown): PluginSetup {
  const { stages, recipes = [] } = (result ?? {}) as Partial<PluginSetup>;
  if (!Array.isArray(stages)) throw new Error('setup: an object with a list of stages is wanted');
  if (!Array.isArray(recipes)) throw new Error('setup: recipes is a list');
  for (const stage of stages as unknown[]) {
    const isStage = typeof stage === 'object' && stage !== null;
    const has = (field: string) => isStage && field in stage;
    if (!has('on') && !has('watch') && !has('transform') && !has('settled'))
      throw new Error('setup: a stage has on, watch, settled or transform');
    if (has('before') === has('after'))
      throw new Error('setup: a stage stands before or after a node, one of the two');
  }
  return { stages: stages as readonly PluginStage[], recipes };
}

function toRecipe(value: unknown, at: number): Recipe {
  const checked = checkRecipe(value);
  if (checked.ok) return checked.file.recipe;
  const faults = checked.faults.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new Error(`setup: recipes[${at}]: ${faults.join('; ')}`);
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
    build() {
      if ('transform' in stage) return { transform: (ctx) => unsized(stage.transform(ctx)) };
      const { open, watch, settled } = stage;
      const on = guarded(name, stage, clock, report);
      return {
        ...(open && { open }),
        ...(watch && { watch }),
        ...(settled && { settled }),
        on:
          on.chunk === undefined && on.end === undefined
            ? on
            : { ...on, head: unsizedHead(on.head) },
      };
    },
  });
  return {
    stage: build(undefined, undefined),
    plugin,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(order !== undefined && { order }),
  };
}

/** Fields that hold only while a body is as it came. */
const SIZED = new Set(['content-length', 'content-md5', 'digest', 'content-digest', 'repr-digest']);

function withoutSize(head: HeadFrame): HeadFrame {
  return { ...head, headers: withoutHeaders(head.headers, (name) => SIZED.has(name)) };
}

type HeadHandler = NonNullable<Handlers<ProxyFrame, unknown>['head']>;

/** A stage that may change the body must not promise its length: a client would wait for the rest, or miss it. */
function unsizedHead(handle: HeadHandler = () => undefined): HeadHandler {
  return (sized, ctx) => {
    const head = withoutSize(sized);
    const handled = handle(head, ctx);
    if (handled instanceof Promise) return handled.then((value) => value ?? head);
    return handled ?? head;
  };
}

function unsized({
  readable,
  writable,
}: ReadableWritablePair<ProxyFrame, ProxyFrame>): ReadableWritablePair<ProxyFrame, ProxyFrame> {
  const heads = new TransformStream<ProxyFrame, ProxyFrame>({
    transform(frame, controller) {
      controller.enqueue(frame.kind === 'head' ? withoutSize(frame) : frame);
    },
  });
  return { writable, readable: readable.pipeThrough(heads) };
}

/** `:12` where what was thrown says a line of the module, else nothing. */
function lineOf(thrown: unknown, module: string): string {
  const stack = thrown instanceof Error ? String(thrown.stack) : '';
  const file = module.split('/').at(-1) ?? module;
  const escaped = file.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const line = new RegExp(`/${escaped}(?:\\?v=[0-9a-f]+)?:(\\d+)`).exec(stack)?.[1];
  return line === undefined ? '' : `:${line}`;
}
