/**
 * One block as received and as sent: side by side or line by line, with search hits highlighted.
 */
import { useMemo, useState } from 'preact/hooks';
import { contains, linesOf, pairsOf } from './block-lines.ts';
import type { Block, Line, Pair } from './block-lines.ts';
import { counted } from '../../../words/counted.ts';
import { orDash, share, wholeNumber } from '../format.ts';

/** Lines rendered at first; a block may have tens of thousands. */
const FIRST_LINES = 400;

/** Display options for blocks. */
export interface DiffOptions {
  readonly isSideBySide: boolean;
  /** True to show all kept lines. */
  readonly isWhole: boolean;
  /** Only lines that contain this are shown; empty shows all. */
  readonly needle: string;
}

const SIGNS = { removed: '−', compressed: '+', kept: ' ', gap: '⋯' } as const;
const NAMES = { removed: 'removed', compressed: 'compressed to', kept: 'kept', gap: '' } as const;

interface DiffProps {
  readonly block: Block;
  readonly options: DiffOptions;
}

export function BlockDiff({ block, options: { isSideBySide, isWhole, needle } }: DiffProps) {
  const isSearched = needle !== '';
  // Kept lines are searched as well.
  const all = useMemo(() => linesOf(block, isWhole || isSearched), [block, isWhole, isSearched]);
  const lines = useMemo(
    () => (isSearched ? all.filter(({ text }) => contains(text, needle)) : all),
    [all, needle],
  );
  const [hasAll, setAll] = useState(false);
  const visible = hasAll ? lines : lines.slice(0, FIRST_LINES);
  const { before, after } = block.tokens;
  const place = block.index < 0 ? `Tool ${-block.index}` : `Block ${block.index}`;
  const count = (kind: Line['kind']) => all.filter((line) => line.kind === kind).length;
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
          {wholeNumber(before)} → {wholeNumber(after)} tokens,{' '}
          <b class="good">−{share(before === 0 ? null : (before - after) / before)}</b>
        </span>
      </header>
      <p class="inset legend">
        <span class="removed">{wholeNumber(count('removed'))} removed</span>
        <span class="compressed">{wholeNumber(count('compressed'))} compressed</span>
        <span class="quiet">
          {isSearched ? `${counted(lines.length, 'line')} with “${needle}”` : 'rest kept'}
        </span>
      </p>
      <div
        class={`diff ${isSideBySide ? 'side' : 'one'}`}
        tabIndex={0}
        role="group"
        aria-label="Lines"
      >
        {isSideBySide ? (
          <>
            <div class="heads">
              <b>As received</b>
              <b>As sent</b>
            </div>
            {pairsOf(visible).map((pair, index) => (
              <PairRow key={index} pair={pair} needle={needle} />
            ))}
          </>
        ) : (
          visible.map((line, index) => (
            <div key={index}>
              <LineCell line={line} needle={needle} />
            </div>
          ))
        )}
      </div>
      {visible.length < lines.length && (
        <p class="inset">
          <button type="button" onClick={() => setAll(true)}>
            Show all {wholeNumber(lines.length)} lines
          </button>
        </p>
      )}
    </section>
  );
}

function PairRow({
  pair: { left, right },
  needle,
}: {
  readonly pair: Pair;
  readonly needle: string;
}) {
  return (
    <div>
      <LineCell line={left} needle={needle} />
      {left?.kind !== 'gap' && <LineCell line={right} needle={needle} />}
    </div>
  );
}

function LineCell({ line, needle }: { readonly line: Line | undefined; readonly needle: string }) {
  if (line === undefined) return <span class="line none" />;
  const { kind, text } = line;
  return (
    <span class={`line ${kind}`}>
      <span class="sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <span class="hidden">{NAMES[kind]}</span>
      <span>
        <Marked text={text} needle={needle} />
      </span>
    </span>
  );
}

/** A text with every occurrence of `needle` highlighted. */
function Marked({ text, needle }: { readonly text: string; readonly needle: string }) {
  if (needle === '') return <>{text}</>;
  const lower = text.toLowerCase();
  // A letter that becomes two in lower case would shift all positions after it.
  if (lower.length !== text.length) return <>{text}</>;
  const parts = [];
  let from = 0;
  for (let at = lower.indexOf(needle.toLowerCase()); at >= 0;) {
    const end = at + needle.length;
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, end)}</mark>);
    from = end;
    at = lower.indexOf(needle.toLowerCase(), from);
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}
