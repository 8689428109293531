/**
 * Parses YAML 1.2 into nodes for whoever reads them, at no more cost than its size suggests: what
 * would cost the parser too much does not reach it. Aliases are nodes, tags and merge keys mean nothing.
 */
import type { Node } from 'yaml';

export type Yaml = typeof import('yaml');
export type Lines = InstanceType<Yaml['LineCounter']>;

export interface YamlDocument {
  readonly yaml: Yaml;
  /** Null for a text without a value. */
  readonly contents: Node | null;
  /** Line and column of an offset. */
  readonly lines: Lines;
}

export interface YamlDocumentLimits {
  /** Brackets, or markers on a line, that stand inside each other. */
  readonly depth: number;
  /** Pieces that the lexer cuts the text into. */
  readonly tokens: number;
  /** Aliases, as they stand in the text; with 0 none is read. */
  readonly aliases: number;
}

const TOO_DEEP = 'it is nested too deeply';

/** Why a text is not read. */
export class YamlFault extends Error {
  /** The offset at which that shows, where it is known. */
  readonly at: number | undefined;

  constructor(message: string, at?: number, cause?: unknown) {
    super(message, { cause });
    this.at = at;
  }
}

/**
 * Parses `text`. `yaml` is imported here, so that a start without a config file does not pay for it.
 *
 * @throws YamlFault for a syntax error or a limit passed; the parser's words may quote the text.
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
      // Its check compares every key with every other; whoever reads the nodes uses a set.
      uniqueKeys: false,
      customTags: [],
      // Its frames quote the source, which may hold a key.
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
/** What the lexer puts between tokens, and what no text holds there: a document begins, a mistake. */
const SIGNS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR_FOLLOWS]);

/**
 * Refuses what would cost the parser too much: it recurses with depth, and some of its
 * work grows with the square of the number of tokens. Cutting into tokens is linear.
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
      // Before the parser sees them: it takes its time over each, though nobody will read it.
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
