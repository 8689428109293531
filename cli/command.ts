/** The base of all commands: the home folder, and printing. */
import { Command, Option } from 'clipanion';
import { homeOf } from './context.ts';
import type { CliContext } from './context.ts';
import * as output from './screen/output.ts';
import { printTable } from './screen/table.ts';
import type { TableHeader, TableOptions, TableRow } from './screen/table.ts';

export abstract class SvcCommand extends Command<CliContext> {
  /** `$SVC_HOME` or `~/.svc`, absolute. */
  protected get home(): string {
    return homeOf(this.context);
  }

  /** Colours for results. */
  protected get colors(): output.Colors {
    return output.colorsFor(this.context.stdout, this.context.env);
  }

  /** Prints one line of a result. */
  protected print(line?: string): void {
    output.print(this.context, line);
  }

  /** Prints a remark to stderr. */
  protected note(line: string): void {
    output.note(this.context, line);
  }

  protected printJson(value: unknown): void {
    output.printJson(this.context, value);
  }

  /** Prints names and values in two columns. */
  protected printPairs(rows: Parameters<typeof output.printPairs>[1]): void {
    output.printPairs(this.context, rows);
  }

  /** Prints a table; see `screen/table.ts`. */
  protected printTable(
    header: TableHeader,
    rows: readonly TableRow[],
    options?: TableOptions,
  ): void {
    printTable(this.context, header, rows, options);
  }
}

/** A command that can print its result as JSON. */
export abstract class JsonCommand extends SvcCommand {
  declare json: boolean;

  static {
    // Set on the prototype, so that help lists it after the command's own options.
    this.prototype.json = Option.Boolean('--json,--raw', false, { description: 'As JSON' });
  }
}
