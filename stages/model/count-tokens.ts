/**
 * Exact token counts for reports. The tokenizers are some 30 MB each and take 150 ms to load, so
 * they are loaded on first use, and nothing that decides bytes may use them.
 */

/**
 * Which public tokenizer is used for a model: OpenAI's o200k, or Anthropic's. Others use the closer
 * one.
 */
export type TokenizerFamily = 'o200k' | 'claude';

/**
 * Counts tokens of a text; synchronous, a few µs per 100 characters. Exact except for runs of more
 * than 256 letters, signs or spaces, which are counted in pieces: at most one token too many per
 * piece.
 */
export type CountTokens = (text: string) => number;

/** Returns the tokenizer family that fits a model's name best; unknown names count as o200k. */
export function tokenizerFamily(model: string): TokenizerFamily {
  return /claude|anthropic|opus|sonnet|haiku/i.test(model) ? 'claude' : 'o200k';
}

/** Loads the tokenizer of a family; the module system keeps it, so a second call is cheap. */
export async function loadTokenCounter(family: TokenizerFamily): Promise<CountTokens> {
  const count = await (family === 'claude' ? loadClaude() : loadO200k());
  return (text) => piecesOf(text).reduce((sum, piece) => sum + count(piece), 0);
}

/**
 * Both tokenizers merge the pairs of a word in time quadratic in its length: 100,000 equal
 * letters take half a minute.
 */
const MAX_RUN = 256;

/** Splits the text inside runs of one kind of character that are longer than `MAX_RUN`. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  let run = 0;
  let previous = -1;
  for (let at = 0; at < text.length; at++) {
    const kind = kindOf(text.charCodeAt(at));
    run = kind === previous ? run + 1 : 1;
    previous = kind;
    if (run <= MAX_RUN || isLowSurrogate(text.charCodeAt(at))) continue;
    pieces.push(text.slice(from, at));
    from = at;
    run = 1;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/**
 * Returns the kind: letters and digits, white space, or signs, which tokenizers never mix in one
 * word.
 */
function kindOf(code: number): number {
  if (code <= 32) return 0;
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code >= 128 ? 1 : 2;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

async function loadO200k(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Without this a text that quotes a control token such as <|endoftext|> throws.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, options);
}

async function loadClaude(): Promise<CountTokens> {
  const [{ default: Tokenizer }, encoding] = await Promise.all([
    import('ai-tokenizer'),
    import('ai-tokenizer/encoding/claude'),
  ]);
  const tokenizer = new Tokenizer(encoding);
  // Its own `count` throws on a text that quotes a control token such as <EOT>.
  return (text) => tokenizer.encode(text, [], []).length;
}
