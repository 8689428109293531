/** `svc template list|add|show|remove|use`: prompt templates with variables. */
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as textOfStream } from 'node:stream/consumers';
import { Command, Option } from 'clipanion';
import { JsonCommand, SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import {
  loadTemplate,
  templateFiles,
  templateFolder,
  templateSource,
} from '../../stages/templates/files.ts';
import { fillTemplate, readTemplate } from '../../stages/templates/template.ts';
import type { TemplateVariable } from '../../stages/templates/template.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input-file.ts';
import { writeOwnFile } from '../user-file.ts';
import { toValues, variablesJson } from '../variables.ts';
import { askModel } from './ask-model.ts';

const folderOf = (context: CliContext): string => templateFolder(homeOf(context));

const variableText = (each: TemplateVariable): string =>
  each.default === undefined ? each.name : `${each.name}=${JSON.stringify(each.default)}`;

class List extends JsonCommand {
  static override paths = [['template', 'list']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The prompt templates, with their variables',
    examples: [['Look', '$0 template list']],
  });

  async execute() {
    const folder = folderOf(this.context);
    const rows = await Promise.all(
      templateFiles.names(folder).map(async (name) => {
        try {
          const { description, variables } = await loadTemplate(folder, name);
          return { name, description: description ?? null, variables, fault: null };
        } catch (thrown) {
          if (!(thrown instanceof SvcError)) throw thrown;
          return { name, description: null, variables: [], fault: thrown.message };
        }
      }),
    );
    if (this.json) {
      const templates = rows.map((row) => ({ ...row, variables: variablesJson(row.variables) }));
      this.printJson({ templates });
    } else if (rows.length === 0) this.note('There is no template; `svc template add` adds one.');
    else {
      this.printTable(
        ['name', 'variables', ''],
        rows.map(({ name, description, variables, fault }) => [
          name,
          variables.map(variableText).join(', '),
          fault ?? description ?? '',
        ]),
      );
    }
    return rows.some(({ fault }) => fault !== null) ? 1 : 0;
  }
}

class Add extends SvcCommand {
  static override paths = [['template', 'add']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Add a prompt template from a file, or from stdin',
    details:
      'Values replace {{name}}. Before the text, between two lines of ---, there may be a `description`, and `variables` with a `default` and `about` each; a variable without a default is required.',
    examples: [
      ['From a file', '$0 template add review review.md'],
      ['From stdin', 'echo "Explain {{topic}}" | $0 template add explain'],
    ],
  });

  name = Option.String({ name: 'name' });
  file = Option.String({ name: 'file', required: false });
  force = Option.Boolean('--force', false, { description: 'Replace an existing one of that name' });

  async execute() {
    const { context, name } = this;
    const path = templateFiles.file(folderOf(context), name);
    const source =
      this.file === undefined
        ? await textOfStream(context.stdin)
        : readInput(resolve(context.cwd, this.file)).toString();
    const { variables } = await readTemplate(name, source);
    writeOwnFile(path, source, this.force, {
      message: `There is a template ${name} already`,
      cure: '--force replaces it.',
    });
    const needs = variables.map(variableText).join(', ');
    this.print(`${name} added${needs === '' ? '' : `, with ${needs}`}`);
  }
}

class Show extends SvcCommand {
  static override paths = [['template', 'show']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The file of a prompt template',
    examples: [['Look', '$0 template show review']],
  });

  name = Option.String({ name: 'name' });

  execute() {
    for (const line of templateSource(folderOf(this.context), this.name).trimEnd().split('\n'))
      this.print(line);
    return Promise.resolve();
  }
}

class Remove extends SvcCommand {
  static override paths = [['template', 'remove']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Delete a prompt template',
    examples: [['Delete it', '$0 template remove review']],
  });

  name = Option.String({ name: 'name' });

  execute() {
    const folder = folderOf(this.context);
    // A missing template is an error; an unusable one may be removed.
    templateSource(folder, this.name);
    rmSync(templateFiles.file(folder, this.name));
    this.print(`${this.name} removed`);
    return Promise.resolve();
  }
}

class Use extends SvcCommand {
  static override paths = [['template', 'use']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Fill a prompt template; print or send the text',
    details:
      'With --model the text goes through the running proxy, and the answer is printed. A value is inserted literally.',
    examples: [
      ['The text', '$0 template use review --var language=Go'],
      [
        'The answer of a model',
        '$0 template use review --var language=Go --model claude-sonnet-4-5',
      ],
    ],
  });

  name = Option.String({ name: 'name' });
  vars = Option.Array('--var', [], { description: 'A value, as name=value; may be repeated' });
  model = Option.String('--model', { description: 'Send it to this model' });

  async execute() {
    const { context } = this;
    const filled = fillTemplate(
      await loadTemplate(folderOf(context), this.name),
      toValues(this.vars),
    );
    const text = this.model === undefined ? filled : await askModel(context, this.model, filled);
    for (const line of text.trimEnd().split('\n')) this.print(line);
  }
}

export const commands = [List, Add, Show, Remove, Use];
