/** `svc validate <file>`: checks a context pack against the schema of version 1.0. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { exitCodes } from '../exit.ts';
import { readInput } from '../input-file.ts';
import { counted } from '../screen/output.ts';

class Validate extends JsonCommand {
  static override paths = [['validate']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Check a context pack against the schema v1.0',
    details:
      'A pack has a header, metadata and blocks of context. Every fault is shown with its line and column, and the exit code is 8.',
    examples: [
      ['A file', '$0 validate pack.json'],
      ['One of YAML, by its ending', '$0 validate pack.yaml'],
      ['The schema, as JSON Schema for editors', '$0 validate --schema'],
    ],
  });

  file = Option.String({ name: 'file', required: false });
  schema = Option.Boolean('--schema', false, { description: 'Print the JSON Schema' });

  async execute() {
    const { context } = this;
    if (this.schema) {
      const { packSchemaDocument } = await import('../../server/context-pack/schema.ts');
      this.printJson(packSchemaDocument());
      return 0;
    }
    if (this.file === undefined)
      throw new SvcError('usage', 'A file is missing', { cure: 'Type `svc validate pack.json`.' });
    const { validatePack } = await import('../../server/context-pack/validate.ts');
    const format = /\.ya?ml$/i.test(this.file) ? 'yaml' : 'json';
    const result = await validatePack(readInput(resolve(context.cwd, this.file)), format);
    if (this.json) this.printJson({ file: this.file, ...result });
    else if (result.valid) {
      const { version, id, blocks } = result.pack;
      this.print(`${this.file}: valid, version ${version}, ${id}, ${counted(blocks, 'block')}`);
    } else {
      for (const { line, column, path, message } of result.faults)
        this.print(`${this.file}:${line}:${column}: ${path === '' ? 'the file' : path} ${message}`);
      this.note(counted(result.faults.length, 'fault'));
    }
    return result.valid ? 0 : exitCodes.bad_request;
  }
}

export const commands = [Validate];
