/** Whether compression kept up: the speed of a proxy that leaves its work undone says nothing. */

/** Input tokens of all requests of a proxy so far. */
export interface Tokens {
  readonly input: number;
  readonly saved: number;
}

/** Reads `/stats` of the proxy on `port`. */
export async function tokensOf(port: number): Promise<Tokens> {
  const response = await fetch(`http://127.0.0.1:${port}/stats`);
  const { session } = (await response.json()) as {
    readonly session: { readonly input_tokens: number; readonly saved_tokens: number };
  };
  return { input: session.input_tokens, saved: session.saved_tokens };
}

/** Returns the percentage of input tokens that was saved between two readings. */
export function savedPercent(before: Tokens, after: Tokens): number {
  return ((after.saved - before.saved) / (after.input - before.input)) * 100;
}
