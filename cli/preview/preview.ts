/** `svc preview`: shows what compression would do to a file. */
import { dryRun } from '../../stages/compress/pass/dry-run.ts';
import type { DryBlock, DryOptions } from '../../stages/compress/pass/dry-run.ts';
import { counted } from '../screen/output.ts';
import type { Colors } from '../screen/output.ts';
import { createCounter, percentSaved, sumTokens } from './counted-tokens.ts';
import type { CountedTokens } from './counted-tokens.ts';
import { blockWords, reasonWords } from './reasons.ts';
import type { RequestFile } from './request-file.ts';

export type Preview = Awaited<ReturnType<typeof previewOf>>;

/**
 * Compresses `file` and counts its tokens with the tokenizer for `countAs`, else for its own model.
 */
export async function previewOf(file: RequestFile, options: DryOptions, countAs?: string) {
  const counter = await createCounter(countAs ?? file.model);
  const whole = await dryRun(file.request, options);
  // For a file that is not a request, the surrounding conversation is ours and not shown.
  const dry = file.as === 'text' ? whole.slice(-1).map((one) => ({ ...one, index: 0 })) : whole;
  const blocks = dry.map((block) => ({ ...block, tokens: counter.count(block.wire ?? block) }));
  return {
    as: file.as,
    /** The assumed tool of a file that is not a request, such as `Bash:npm test`. */
    tool: file.tool?.words ?? null,
    model: file.model,
    mode: options.mode,
    thresholdTokens: options.thresholdTokens,
    /** The tokenizer family of `tokens`. */
    tokenizer: counter.family,
    blocks,
    total: sumTokens(blocks.map(({ tokens }) => tokens)),
  };
}

/** Returns the preview for `--json`; with the texts of block `shown` only. */
export function previewJson(preview: Preview, file: string, index: number | undefined) {
  return {
    file,
    as: preview.as,
    tool: preview.tool,
    model: preview.model,
    mode: preview.mode,
    threshold_tokens: preview.thresholdTokens,
    tokenizer: preview.tokenizer,
    total: tokensJson(preview.total),
    blocks: preview.blocks.map((block) => ({
      index: block.index,
      role: block.role,
      kind: block.kind,
      tool: block.toolName,
      class: block.textClass,
      changed: block.changed,
      by: block.by,
      reason: block.reason,
      tokens: tokensJson(block.tokens),
      estimated_tokens: { before: block.tokensBefore, after: block.tokensAfter },
      ...(block.index === index && { before: block.before, after: block.after }),
    })),
  };
}

/** Describes in one line what was examined, and how. */
export function previewHeading(preview: Preview, file: string, colors: Colors): string {
  const { as, tool, model, mode, blocks, thresholdTokens, tokenizer } = preview;
  const what = as === 'text' ? `the result of ${tool}` : `a ${as} request`;
  const own = blocks.filter(({ index }) => index >= 0);
  const whose = model === null ? '' : ` for ${model}`;
  const from =
    thresholdTokens > 0 ? `, from ${thresholdTokens.toLocaleString('en-US')} tokens on` : '';
  return (
    `${colors.bold(file)} as ${what}${whose}: ${counted(own.length, 'block')}, mode ${mode}${from}` +
    colors.dim(`, tokens counted by ${tokenizer}`)
  );
}

export const previewHeader = ['>#', 'block', 'class', '>before', '>after', '>saved', 'how'];

/** Returns one row per block that compression examined, or per block. */
export function previewRows(preview: Preview, all: boolean, colors: Colors): string[][] {
  return preview.blocks
    .filter((block) => all || wasConsidered(block))
    .map((block) => [
      block.index < 0 ? '–' : String(block.index),
      preview.as === 'text' ? 'the file' : blockWords(block.kind, block.role, block.toolName),
      block.textClass ?? '–',
      block.tokens.before.toLocaleString('en-US'),
      block.tokens.after.toLocaleString('en-US'),
      block.changed ? colors.green(percentSaved(block.tokens)) : '–',
      block.changed ? block.by.join(', ') : colors.dim(reasonWords(block.reason ?? '')),
    ]);
}

/** Summarizes the blocks without a row, by the reason why they are sent unchanged. */
export function untouchedLine(preview: Preview): string | undefined {
  const left = preview.blocks.filter((block) => !wasConsidered(block));
  if (left.length === 0) return undefined;
  const counts = new Map<string, number>();
  for (const { reason } of left) {
    const words = reasonWords(reason ?? '');
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const reasons = [...counts].map(([words, count]) => `${count} ${words}`).join(', ');
  const tokens = sumTokens(left.map((block) => block.tokens)).before.toLocaleString('en-US');
  return `${counted(left.length, 'block')} with ${tokens} tokens never touched here: ${reasons}`;
}

/** True for a text that is shortened according to the question about it. */
export function isProse({ blocks }: Preview): boolean {
  return blocks.some(({ textClass }) => textClass === 'narrative');
}

/** True if the threshold is all that keeps this request from being compressed. */
export function isHeldByThreshold({ blocks, total }: Preview): boolean {
  return total.saved === 0 && blocks.some(({ reason }) => reason === 'below-threshold');
}

/** Returns before, after and saved, as pairs. */
export function totalPairs(total: CountedTokens): (readonly [string, string])[] {
  return [
    ['Before', counted(total.before, 'token')],
    ['After', counted(total.after, 'token')],
    ['Saved', `${counted(total.saved, 'token')} (${percentSaved(total)})`],
  ];
}

function wasConsidered({ changed, textClass, reason }: DryBlock): boolean {
  return changed || (textClass !== null && reason === 'no-gain');
}

function tokensJson({ before, after, saved }: CountedTokens) {
  return { before, after, saved };
}
