/** `svc graph`: the graph compiled from the configuration. */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { PLUGIN_SETTINGS, typedPlugins } from '../parse/typed-plugins.ts';
import { drawMermaid, drawText } from './drawing.ts';
import { drawSvg } from './svg.ts';

class Graph extends SvcCommand {
  static override paths = [['graph']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The stages that requests and answers pass',
    details:
      'Compiles the configuration as a start would, including plugins, and starts nothing. Adjacent stages of an answer run as one segment; a stage with a stream of its own is a segment by itself. A plugin that cannot be used is named with file and line, and the exit code is that of a faulty configuration.',
    examples: [
      ['As text', '$0 graph'],
      ['With a plugin that is not configured', '$0 graph --plugin ./cost-cap.mjs'],
      ['For a document', '$0 graph --mermaid'],
      ['What a macro would put into it', '$0 graph --macro builds'],
      ['Which recipes run, in their order', '$0 graph --recipes'],
      ['A picture', '$0 graph --svg > graph.svg'],
    ],
  });

  config = Option.String('--config', { description: 'Config file' });
  plugin = Option.Array('--plugin', [], {
    description: 'A plugin in addition to the configured ones',
  });
  settings = Option.Array('--settings', [], { description: PLUGIN_SETTINGS });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });
  mermaid = Option.Boolean('--mermaid', false, { description: 'As a Mermaid flowchart' });
  svg = Option.Boolean('--svg', false, { description: 'As an SVG picture' });

  macro = Option.String('--macro', {
    description: 'The graph of a request that names this macro (x-svc-macro)',
  });
  recipes = Option.Boolean('--recipes', false, {
    description: 'The recipes in the order in which they run, and the stage of each',
  });

  async execute() {
    const { context } = this;
    if (this.recipes) {
      await this.listRecipes();
      return;
    }
    if ([this.json, this.mermaid, this.svg].filter(Boolean).length > 1)
      throw new SvcError('usage', '--json, --mermaid and --svg exclude each other');
    const { outline, json } = await this.compile();
    if (this.json) this.printJson(json);
    else if (this.svg) context.stdout.write(`${drawSvg(outline)}\n`);
    else if (this.mermaid) context.stdout.write(`${drawMermaid(outline).join('\n')}\n`);
    else for (const line of drawText(outline, this.colors)) this.print(line);
  }

  private async listRecipes() {
    if (this.mermaid || this.svg)
      throw new SvcError('usage', '--recipes is a list: it takes neither --mermaid nor --svg');
    const { recipesInOrder } = await import('../../server/graph/recipes.ts');
    const list = await recipesInOrder(await this.configured(), this.context.clock, this.macro);
    if (this.json) this.printJson({ recipes: list });
    else
      this.printTable(
        ['stage', 'recipe', 'from', ''],
        list.map(({ node, name, from, description }) => [node, name, from, description]),
      );
  }

  /** Returns the configuration with the typed plugins added. */
  private async configured() {
    const { config } = await configInUse(this.config, this.context);
    const more = await typedPlugins(this.plugin, this.settings, this.context.cwd);
    return { ...config, plugins: [...config.plugins, ...more] };
  }

  private async compile() {
    const { context } = this;
    const [config, { compiledGraph }, { describePlan }, { graphJson }] = await Promise.all([
      this.configured(),
      import('../../server/generation/compile-only.ts'),
      import('../../engine/index.ts'),
      import('../../server/graph/json.ts'),
    ]);
    const { plan, plugins, warnings } = await compiledGraph(config, context.env, this.macro);
    for (const warning of warnings) this.note(`! ${warning}`);
    const outline = describePlan(plan);
    return { outline, json: graphJson(outline, plugins) };
  }
}

export const commands = [Graph];
