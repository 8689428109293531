/** `svc help <topic>`: a page of the documentation as text for the screen. */
import { existsSync, readFileSync } from 'node:fs';
import type { CliContext } from '../context.ts';
import { colorsFor, print } from '../screen/output.ts';
import { printTable } from '../screen/table.ts';

/** A part of a page. `depth` is the nesting depth in lists. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'text'; readonly depth: number; readonly text: string }
  | { readonly kind: 'item'; readonly depth: number; readonly mark: string; readonly text: string }
  | { readonly kind: 'code'; readonly depth: number; readonly lines: readonly string[] }
  | {
      readonly kind: 'table';
      readonly header: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

export interface Topic {
  /** The argument of `svc help`. */
  readonly name: string;
  readonly blocks: readonly Block[];
}

/** File in the build output, next to the module that reads it. */
export const TOPICS_FILE = 'topics.json';

/** Reads all topics, by name. */
export function readTopics(): readonly Topic[] {
  const file = new URL(TOPICS_FILE, import.meta.url);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Topic[]) : [];
}

/** Prints a page. */
export async function printTopic({ blocks }: Topic, context: CliContext): Promise<void> {
  const colors = colorsFor(context.stdout, context.env);
  blocks.forEach((block, at) => {
    const before = blocks[at - 1];
    if (before !== undefined && !(before.kind === 'item' && block.kind === 'item')) print(context);
    if (block.kind === 'heading') print(context, colors.bold(block.text));
    else if (block.kind === 'table') printTable(context, block.header, block.rows);
    else if (block.kind === 'code')
      for (const line of block.lines) print(context, `${space(block.depth + 1)}${line}`.trimEnd());
    else if (block.kind === 'item')
      print(context, `${space(block.depth)}${block.mark} ${block.text}`);
    else print(context, `${space(block.depth)}${block.text}`);
  });
}

function space(depth: number): string {
  return '  '.repeat(depth);
}
