/**
 * Trims tool definitions: removes repetition, white space and defaults. The result depends on the
 * definition alone, so it is the same in every turn and after any restart.
 */
import { LRUCache } from 'lru-cache';
import type { ChangedBlock } from '../../originals/originals.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { JsonPath } from '../../model/block.ts';
import type { DialectName } from '../../model/dialect.ts';
import { setValues } from '../../model/request.ts';
import type { NewValue, ProxyRequest } from '../../model/request.ts';
import { findSpans } from '../../wire/json-path.ts';
import { printCompact, readJson } from '../rules/json/lexer.ts';
import { definitionsIn } from '../../dialect/tool-definitions.ts';
import type { Definition } from '../../dialect/tool-definitions.ts';
import { tidyDescription } from './description.ts';
import { shortenSchema } from './schema.ts';

/** A trimmed definition. */
interface Trimmed {
  /** JSON text; undefined for an unchanged part. */
  readonly description: string | undefined;
  readonly schema: string | undefined;
  /** For display; undefined if nothing changes. */
  readonly shown: TrimmedDefinition | undefined;
}

/** A definition that was shortened. */
export interface TrimmedDefinition {
  /** Formatted with a line for each member. */
  readonly block: ChangedBlock;
  /** Description and compact schema, for counting. */
  readonly before: string;
  readonly after: string;
}

export interface TrimmedTools {
  readonly request: ProxyRequest;
  /** The definitions that changed. */
  readonly changed: readonly TrimmedDefinition[];
}

/** Cache size in characters, 8 MB: an agent sends the same definitions in every turn. */
const MAX_CHARS = 4 * 1024 * 1024;

/** Creates a trimmer for the tools of requests. Its cache affects speed only. */
export function createToolTrimmer(): (request: ProxyRequest) => TrimmedTools {
  const known = new LRUCache<string, Trimmed>({
    maxSize: MAX_CHARS,
    sizeCalculation: (trimmed, key) => key.length + charsOf(trimmed) + 100,
  });
  return (request) => {
    const { body, json, dialect } = request.original;
    const definitions = request.edits.params.has('tools') ? [] : definitionsIn(json);
    const paths = definitions.flatMap(({ schema }) => (schema === undefined ? [] : [schema.path]));
    const spans = new Map(findSpans(body.bytes, paths).map((span, at) => [paths[at]!, span]));
    const values: NewValue[] = [];
    const changed: TrimmedDefinition[] = [];
    for (const [at, definition] of definitions.entries()) {
      const span = definition.schema && spans.get(definition.schema.path);
      const schema = span === undefined ? '' : body.bytes.toString('utf8', span.start, span.end);
      const { name, description } = definition;
      const isStrict = isEnforced(definition, dialect.name);
      const key = [isStrict, name, description?.text, schema].join('\0');
      let trimmed = known.get(key);
      if (trimmed === undefined) known.set(key, (trimmed = trim(definition, schema, isStrict)));
      if (trimmed.shown === undefined) continue;
      changed.push({ ...trimmed.shown, block: { ...trimmed.shown.block, index: -1 - at } });
      const add = (path: JsonPath | undefined, text: string | undefined): void => {
        if (path !== undefined && text !== undefined) values.push({ path, json: text });
      };
      add(description?.path, trimmed.description);
      add(definition.schema?.path, trimmed.schema);
    }
    return { request: setValues(request, values), changed };
  };
}

/** Returns true if the provider enforces the schema and so requires a certain form of it. */
function isEnforced({ strict }: Definition, dialect: DialectName): boolean {
  // The responses API enforces it by default.
  return dialect === 'responses' ? strict !== false : strict === true;
}

function charsOf({ description, schema, shown: made }: Trimmed): number {
  const texts = [made?.before, made?.after, made?.block.before, made?.block.after];
  return [description, schema, ...texts]
    .map((text) => text?.length ?? 0)
    .reduce((sum, chars) => sum + chars);
}

function trim({ name, description }: Definition, schemaText: string, isStrict: boolean): Trimmed {
  const text = description?.text ?? '';
  const short = tidyDescription(text);
  const schema = readJson(schemaText);
  const before = schema === undefined ? '' : printCompact(schema);
  const shorter = schema && shortenSchema(schema, { name, description: text, isStrict });
  const after = shorter === undefined ? '' : printCompact(shorter);
  if (short === text && after === before)
    return { description: undefined, schema: undefined, shown: undefined };
  return {
    description: short === text ? undefined : JSON.stringify(short),
    schema: after === before ? undefined : after,
    shown: {
      block: Object.freeze({
        index: -1,
        toolName: name,
        by: ['tool-trim'],
        kind: 'tool definition',
        before: describe(text, before),
        after: describe(short, after),
        tokensBefore: estimateTokens(text) + estimateTokens(before),
        tokensAfter: estimateTokens(short) + estimateTokens(after),
      }),
      before: `${text}\n${before}`,
      after: `${short}\n${after}`,
    },
  };
}

/** Formats with a line for each member, to make removals visible. */
function describe(description: string, schema: string): string {
  const parsed: unknown = schema === '' ? undefined : JSON.parse(schema);
  return [description, JSON.stringify(parsed, null, 2) ?? '']
    .filter((part) => part !== '')
    .join('\n\n');
}
