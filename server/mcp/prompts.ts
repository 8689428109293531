/** The prompt templates of a home as MCP prompts, with their variables as arguments. */
import { fromJsonSchema } from '@modelcontextprotocol/server';
import type { GetPromptResult, McpServer } from '@modelcontextprotocol/server';
import { SvcError } from '../../engine/index.ts';
import { loadTemplate, templateFiles, templateFolder } from '../../stages/templates/files.ts';
import { fillTemplate } from '../../stages/templates/template.ts';
import type { Template } from '../../stages/templates/template.ts';

type Values = Readonly<Record<string, string>>;

/** Adds every usable template; `svc template list` shows the faults of the others. */
export async function addPrompts(server: McpServer, home: string): Promise<void> {
  const folder = templateFolder(home);
  for (const name of templateFiles.names(folder)) {
    const template = await readUsable(folder, name);
    if (template !== undefined) addPrompt(server, template);
  }
}

async function readUsable(folder: string, name: string): Promise<Template | undefined> {
  try {
    return await loadTemplate(folder, name);
  } catch (thrown) {
    if (thrown instanceof SvcError) return undefined;
    throw thrown;
  }
}

function addPrompt(server: McpServer, template: Template): void {
  const { name, description, variables } = template;
  const config = description === undefined ? {} : { description };
  const filled = (values: Values): GetPromptResult => {
    const text = fillTemplate(template, new Map(Object.entries(values)));
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  };
  if (variables.length === 0) {
    server.registerPrompt(name, config, () => filled({}));
    return;
  }
  const argsSchema = fromJsonSchema<Values>({
    type: 'object',
    properties: Object.fromEntries(
      variables.map(({ name: key, about }) => [
        key,
        { type: 'string', ...(about !== undefined && { description: about }) },
      ]),
    ),
    required: variables
      .filter((variable) => variable.default === undefined)
      .map((variable) => variable.name),
  });
  server.registerPrompt(name, { ...config, argsSchema }, filled);
}
