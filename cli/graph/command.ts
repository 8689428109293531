/** `svc graph`: the graph that the configuration compiles to. */
import { Command, Option } from 'clipanion';
import { SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { configOf } from '../parse/flags.ts';
import { PLUGIN_SETTINGS, typedPlugins } from '../parse/typed-plugins.ts';
import { drawMermaid, drawText, toDrawing } from './drawing.ts';
import type { Drawing } from './drawing.ts';
import { drawSvg } from './svg.ts';

class Graph extends SvcCommand {
  static override paths = [['graph']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The stages that requests and answers pass, as they are compiled',
    details:
      'Compiles the configuration as a start would, plugins included, and starts nothing. Neighbouring stages of an answer run as one segment; a stage with a stream of its own stands alone, as a web stream. A plugin that cannot be used is named with file and line, and the exit code is that of a faulty configuration.',
    examples: [
      ['As text', '$0 graph'],
      ['With a plugin that is not configured', '$0 graph --plugin ./cost-cap.mjs'],
      ['For a document', '$0 graph --mermaid'],
      ['A picture', '$0 graph --svg > graph.svg'],
    ],
  });

  config = Option.String('--config', { description: 'Config file' });
  plugin = Option.Array('--plugin', [], { description: 'A plugin besides the configured ones' });
  settings = Option.Array('--settings', [], { description: PLUGIN_SETTINGS });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });
  mermaid = Option.Boolean('--mermaid', false, { description: 'As a flowchart of Mermaid' });
  svg = Option.Boolean('--svg', false, { description: 'As an SVG picture' });

  async execute() {
    const { context } = this;
    if ([this.json, this.mermaid, this.svg].filter(Boolean).length > 1)
      throw new SvcError('usage', '--json, --mermaid and --svg exclude each other');
    const { drawing, plugins } = await this.compile();
    if (this.json) this.printJson(toJson(drawing, plugins));
    else if (this.svg) context.stdout.write(`${drawSvg(drawing)}\n`);
    else if (this.mermaid) context.stdout.write(`${drawMermaid(drawing).join('\n')}\n`);
    else for (const line of drawText(drawing, this.colors)) this.print(line);
  }

  private async compile() {
    const { context } = this;
    const [{ config }, { compiledGraph }, { describePlan }] = await Promise.all([
      configOf(this.config, context),
      import('../../server/generation/compile-alone.ts'),
      import('../../engine/index.ts'),
    ]);
    const more = await typedPlugins(this.plugin, this.settings, context.cwd);
    const withMore = { ...config, plugins: [...config.plugins, ...more] };
    const { plan, plugins, warnings } = await compiledGraph(withMore, context.env);
    for (const warning of warnings) this.note(`! ${warning}`);
    const bringers = plugins.flatMap(({ name, insertions }) =>
      insertions.map(({ stage }) => [stage.name, name] as const),
    );
    return { drawing: toDrawing(describePlan(plan), new Map(bringers)), plugins };
  }
}

function toJson(
  { request, answers }: Drawing,
  plugins: readonly { readonly name: string; readonly module: string }[],
) {
  return {
    request: request.map(({ name, plugin, answers: mayAnswer, isStream }) => ({
      node: name,
      plugin,
      answers: mayAnswer,
      web_stream: isStream,
    })),
    answers: answers.map(({ from, segments }) => ({
      from,
      segments: segments.map(({ form, nodes }) => ({
        form,
        nodes: nodes.map(({ name, plugin }) => ({ node: name, plugin })),
      })),
    })),
    plugins: plugins.map(({ name, module }) => ({ name, module })),
  };
}

export const commands = [Graph];
