/** What compression changed in one request, with a search field. */
import { useState } from 'preact/hooks';
import type { LostJson, RequestJson, Trace } from '../../contract.ts';
import { BlockDiff } from './block-diff.tsx';
import type { DiffOptions } from './block-diff.tsx';
import { contains } from './block-lines.ts';
import type { Block } from './block-lines.ts';
import { NARROW, useMedia } from '../media.ts';

interface ChangesProps {
  readonly lost: LostJson | string;
  readonly row?: RequestJson;
  readonly trace: Trace | null;
}

export function Changes({ lost, row, trace }: ChangesProps) {
  const blocks = typeof lost === 'string' ? [] : lost.blocks;
  return (
    <section aria-labelledby="changes">
      <h2 id="changes" class="section-title">
        What compression changed
      </h2>
      {blocks.length === 0 ? (
        <p class="quiet">{emptyText(lost, row, trace)}</p>
      ) : (
        <Blocks blocks={blocks} />
      )}
    </section>
  );
}

function emptyText(
  lost: LostJson | string,
  row: RequestJson | undefined,
  trace: Trace | null,
): string {
  if (typeof lost === 'string' && lost !== '') return lost;
  const because = trace?.stages
    .map((stage) => stage['not_compressed_because'])
    .find((reason) => typeof reason === 'string');
  if (typeof because === 'string') return `Nothing was changed: ${because}.`;
  return (row?.tokens_saved ?? 0) > 0
    ? 'What was removed is no longer kept.'
    : 'Nothing was changed.';
}

function Blocks({ blocks }: { readonly blocks: readonly Block[] }) {
  const isNarrow = useMedia(NARROW);
  const [isChosen, setChosen] = useState<boolean>();
  const [isWhole, setWhole] = useState(false);
  const [needle, setNeedle] = useState('');
  const options: DiffOptions = { isSideBySide: isChosen ?? !isNarrow, isWhole, needle };
  const found = blocks.filter(
    ({ before, after }) => contains(before, needle) || contains(after, needle),
  );
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>Search the texts</span>
          <input
            type="search"
            name="text"
            aria-keyshortcuts="/"
            value={needle}
            onInput={({ currentTarget: { value } }) => setNeedle(value)}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={options.isSideBySide}
            onChange={({ currentTarget: { checked } }) => setChosen(checked)}
          />
          <span>Side by side</span>
        </label>
        <label>
          <input
            type="checkbox"
            checked={isWhole}
            onChange={({ currentTarget: { checked } }) => setWhole(checked)}
          />
          <span>All kept lines</span>
        </label>
      </form>
      {found.length === 0 && <p class="quiet">No text contains this.</p>}
      {found.map((block) => (
        <BlockDiff key={block.index} block={block} options={options} />
      ))}
    </>
  );
}
