/**
 * Parses YAML 1.2 into nodes, at no more cost than its size suggests: input that would be too
 * expensive for the parser never reaches it. Aliases stay nodes; tags and merge keys have no
 * meaning.
 */
import type { Node } from 'yaml';

export type Yaml = typeof import('yaml');
export type Lines = InstanceType<Yaml['LineCounter']>;

export interface YamlDocument {
  readonly yaml: Yaml;
  /** Null for a text without a value. */
  readonly contents: Node | null;
  /** Returns line and column of an offset. */
  readonly lines: Lines;
}

export interface YamlDocumentLimits {
  /** Nested brackets, or nested markers on a line. */
  readonly depth: number;
  /** Tokens that the lexer produces. */
  readonly tokens: number;
  /** Aliases in the text; with 0 any alias is refused. */
  readonly aliases: number;
}

const TOO_DEEP = 'it is nested too deeply';

/** Why a text was not parsed. */
export class YamlFault extends Error {
  /** The offset of the fault, if known. */
  readonly at: number | undefined;

  constructor(message: string, at?: number, cause?: unknown) {
    super(message, { cause });
    this.at = at;
  }
}

/**
 * Parses `text`. `yaml` is imported here, so that a start without a config file does not pay for
 * it.
 *
 * @throws YamlFault for a syntax error or an exceeded limit; the parser's message may quote the
 * text.
 */
export async function parseYaml(text: string, limits: YamlDocumentLimits): Promise<YamlDocument> {
  const yaml = await import('yaml');
  refuseExcess(yaml, text, limits);
  const lines = new yaml.LineCounter();
  const { errors, warnings, contents } = parse(yaml, text, lines);
  const problem = errors[0] ?? warnings[0];
  if (problem?.code === 'RESOURCE_EXHAUSTION') throw new YamlFault(TOO_DEEP, problem.pos[0]);
  if (problem !== undefined)
    throw new YamlFault(problem.message.split('\n', 1)[0] ?? '', problem.pos[0]);
  return { yaml, contents, lines };
}

function parse(yaml: Yaml, text: string, lineCounter: Lines) {
  try {
    return yaml.parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      // The parser compares every key with every other; readers of the nodes use a set instead.
      uniqueKeys: false,
      customTags: [],
      // Its code frames quote the source, which may contain a key.
      prettyErrors: false,
      lineCounter,
      logLevel: 'error',
    });
  } catch (thrown) {
    throw new YamlFault('it is not well-formed YAML', undefined, thrown);
  }
}

/** The lexer's sign that the next token is the text of a scalar. */
const SCALAR_FOLLOWS = '\u001f';
/** Signs that the lexer puts between tokens: start of a document, an error, a scalar. */
const SIGNS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR_FOLLOWS]);

/**
 * Refuses input that would be too expensive to parse: the parser recurses with depth, and some of
 * its work grows with the square of the number of tokens. The lexer is linear.
 */
function refuseExcess(yaml: Yaml, text: string, limits: YamlDocumentLimits): void {
  let tokens = 0;
  let brackets = 0;
  let markers = 0;
  let aliases = 0;
  let at = 0;
  let isScalar = false;
  const refuse = (message: string): never => {
    throw new YamlFault(message, Math.min(at, text.length));
  };
  for (const token of new yaml.Lexer().lex(text)) {
    if (++tokens > limits.tokens) refuse('it holds too many values');
    if (SIGNS.has(token)) {
      isScalar = token === SCALAR_FOLLOWS;
      continue;
    }
    if (!isScalar) {
      if (token === '[' || token === '{') brackets++;
      if (token === ']' || token === '}') brackets--;
      if (token === '-' || token === '?') markers++;
      if (token.includes('\n')) markers = 0;
      // Checked before parsing: the parser spends time on each alias, although none is used.
      if (token.startsWith('*') && ++aliases > limits.aliases)
        refuse(
          limits.aliases === 0
            ? 'aliases are not read: write the value itself'
            : `it follows more than ${limits.aliases} aliases`,
        );
      if (brackets > limits.depth || markers > limits.depth) refuse(TOO_DEEP);
    }
    isScalar = false;
    at += token.length;
  }
}
