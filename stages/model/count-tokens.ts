/**
 * Exact token counts for reports. The tokenizers are some 30 MB each and take 150 ms to
 * load, so they come only when first asked for, and nothing that decides bytes may use them.
 */

/** Which public tokenizer stands for a model: OpenAI's o200k, or Anthropic's. Others are counted with the nearer one. */
export type TokenizerFamily = 'o200k' | 'claude';

/** Counts tokens of a text; synchronous, a few µs per 100 characters. */
export type CountTokens = (text: string) => number;

/** The tokenizer family that fits a model's name best; unknown names count as o200k. */
export function tokenizerFamily(model: string): TokenizerFamily {
  return /claude|anthropic|opus|sonnet|haiku/i.test(model) ? 'claude' : 'o200k';
}

/** Loads the tokenizer of a family; the module system keeps it, so a second call is cheap. */
export async function loadTokenCounter(family: TokenizerFamily): Promise<CountTokens> {
  return family === 'claude' ? loadClaude() : loadO200k();
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
  return (text) => tokenizer.count(text);
}
