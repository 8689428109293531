/** What one block was and became, line by line: removed, put in its place, kept. */
import { structuredPatch } from 'diff';
import { useMemo, useState } from 'preact/hooks';
import type { LostJson } from '../contract.ts';
import { counted } from './counted.ts';
import { orDash, share, whole } from './format.ts';

type Block = LostJson['blocks'][number];

/** A comparison that takes longer is not worth waiting for: both texts are then shown one after the other. */
const PATIENCE_MS = 400;
/** Lines drawn at first; a block may have tens of thousands. */
const FIRST_LINES = 400;

interface Line {
  readonly kind: 'removed' | 'compressed' | 'kept' | 'gap';
  readonly text: string;
}

function linesOf({ before, after }: Block): Line[] {
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: 3,
    timeout: PATIENCE_MS,
  });
  if (patch === undefined)
    return [
      ...before.split('\n').map((text) => ({ kind: 'removed' as const, text })),
      ...after.split('\n').map((text) => ({ kind: 'compressed' as const, text })),
    ];
  const total = before.split('\n').length;
  const lines: Line[] = [];
  let next = 1;
  const gap = (count: number): void => {
    if (count > 0) lines.push({ kind: 'gap', text: `${counted(count, 'line')} kept` });
  };
  for (const hunk of patch.hunks) {
    gap(hunk.oldStart - next);
    next = hunk.oldStart + hunk.oldLines;
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line.startsWith('-')) lines.push({ kind: 'removed', text });
      else if (line.startsWith('+')) lines.push({ kind: 'compressed', text });
      else if (!line.startsWith('\\')) lines.push({ kind: 'kept', text });
    }
  }
  gap(total - next + 1);
  return lines;
}

const SIGNS = { removed: '−', compressed: '+', kept: ' ', gap: '⋯' } as const;
const NAMES = { removed: 'removed', compressed: 'compressed to', kept: 'kept', gap: '' } as const;

export function BlockDiff({ block }: { readonly block: Block }) {
  const lines = useMemo(() => linesOf(block), [block]);
  const [isWhole, setWhole] = useState(false);
  const visible = isWhole ? lines : lines.slice(0, FIRST_LINES);
  const { before, after } = block.tokens;
  const place = block.index < 0 ? `Tool ${-block.index}` : `Block ${block.index}`;
  const count = (kind: Line['kind']) => lines.filter((line) => line.kind === kind).length;
  return (
    <section class="card flush diff-card" aria-label={place}>
      <header>
        <h3>
          {place} <span class="quiet">{orDash(block.tool)}</span>
        </h3>
        <span class="quiet">
          {orDash(block.kind)} · {block.by.join(', ')}
        </span>
        <span>
          {whole(before)} → {whole(after)} tokens,{' '}
          <b class="good">−{share(before === 0 ? null : (before - after) / before)}</b>
        </span>
      </header>
      <p class="inset legend">
        <span class="removed">{whole(count('removed'))} removed</span>
        <span class="compressed">{whole(count('compressed'))} compressed</span>
        <span class="quiet">rest kept</span>
      </p>
      <div class="diff" tabIndex={0} role="group" aria-label="Lines">
        {visible.map(({ kind, text }, index) => (
          <div key={index} class={kind}>
            <span class="sign" aria-hidden="true">
              {SIGNS[kind]}
            </span>
            <span class="hidden">{NAMES[kind]}</span>
            <span>{text}</span>
          </div>
        ))}
      </div>
      {visible.length < lines.length && (
        <p class="inset">
          <button type="button" onClick={() => setWhole(true)}>
            Show all {whole(lines.length)} lines
          </button>
        </p>
      )}
    </section>
  );
}
