/**
 * A long list of rows of equal height; only the visible rows are in the document. Arrow keys, Page
 * Up and Down, Home and End move between rows, as do j and k from anywhere on the page. The focused
 * row stays in the document.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { letterOf } from '../frame/keys.ts';

/** Rows rendered above and below the visible ones, so that fast scrolling shows no gap. */
const SPARE = 8;
/** The focusable element of a row: its link. */
const TARGET = '[data-row-link]';

export interface VirtualListProps<T> {
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly rowHeight: number;
  readonly label: string;
  /** CSS variables with the widths of the columns. */
  readonly grid: Readonly<Record<string, string>>;
  /** Content of the header row. */
  readonly header: ComponentChildren;
  readonly render: (item: T, isFirstStop: boolean) => ComponentChildren;
  /** Called when the last row has come into view. */
  readonly onEnd?: () => void;
}

export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, keyOf, rowHeight, label, grid, header, render, onEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);
  const firstKey = useRef<string | undefined>(undefined);

  useEffect(() => {
    const element = scroller.current!;
    let isWaiting = 0;
    const measure = (): void => {
      isWaiting ||= requestAnimationFrame(() => {
        isWaiting = 0;
        setView({ top: element.scrollTop, height: element.clientHeight });
      });
    };
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener('scroll', measure);
      cancelAnimationFrame(isWaiting);
    };
  }, []);

  // Rows inserted above must not move what is being read further down.
  useLayoutEffect(() => {
    const before = firstKey.current;
    firstKey.current = items[0] === undefined ? undefined : keyOf(items[0]);
    const element = scroller.current!;
    if (before === undefined || before === firstKey.current) return;
    const moved = items.findIndex((item) => keyOf(item) === before);
    if (moved <= 0) return;
    setActive((index) => index + moved);
    if (element.scrollTop > rowHeight) element.scrollTop += moved * rowHeight;
  }, [items]);

  const last = items.length - 1;
  const current = Math.min(active, Math.max(last, 0));
  const from = Math.max(0, Math.floor(view.top / rowHeight) - SPARE);
  const to = Math.min(last, Math.ceil((view.top + view.height) / rowHeight) + SPARE);
  const visible = Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => from + n);
  if (last >= 0 && (current < from || current > to)) visible.push(current);

  useEffect(() => {
    if (to === last && last >= 0) onEnd?.();
  }, [to === last, items.length]);

  function focusPresent(): void {
    wantsFocus.current = false;
    scroller.current
      ?.querySelector<HTMLElement>(`[aria-rowindex="${current + 2}"] ${TARGET}`)
      ?.focus({ preventScroll: true });
  }

  useLayoutEffect(() => {
    if (wantsFocus.current) focusPresent();
  }, [current]);

  function onKeyDown(event: KeyboardEvent): void {
    const element = scroller.current!;
    if (!(event.target as Element).matches(TARGET)) return;
    const page = Math.max(1, Math.floor(element.clientHeight / rowHeight) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -items.length,
      End: items.length,
    };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    focusRow(current + step);
  }

  function focusRow(index: number): void {
    const element = scroller.current!;
    const next = Math.min(last, Math.max(0, index));
    const headerHeight = element.querySelector<HTMLElement>('.list-head')?.offsetHeight ?? 0;
    const top = next * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight + headerHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight + headerHeight - element.clientHeight;
    wantsFocus.current = true;
    setView({ top: element.scrollTop, height: element.clientHeight });
    setActive(next);
    if (next === current) focusPresent();
  }

  /** Without focus in the list, the first key press only focuses the current row. */
  const onLetter = useRef<(event: KeyboardEvent) => void>(() => undefined);
  onLetter.current = (event) => {
    const step = { j: 1, k: -1 }[letterOf(event) ?? ''];
    if (step === undefined || document.querySelector('dialog[open]') !== null) return;
    event.preventDefault();
    const isIn = scroller.current!.querySelector(`${TARGET}:focus`) !== null;
    focusRow(isIn ? current + step : current);
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => onLetter.current(event);
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);

  return (
    <div
      class="list"
      role="table"
      aria-label={label}
      aria-rowcount={items.length + 1}
      ref={scroller}
      style={grid}
      onKeyDown={onKeyDown}
    >
      <div class="list-head" role="row" aria-rowindex={1}>
        {header}
      </div>
      <div class="list-body" role="rowgroup" style={{ height: `${items.length * rowHeight}px` }}>
        {visible.map((index) => {
          const item = items[index]!;
          return (
            <div
              key={keyOf(item)}
              class="list-row"
              role="row"
              aria-rowindex={index + 2}
              style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
              onFocusIn={() => setActive(index)}
            >
              {render(item, index === current)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
