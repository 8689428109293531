/** A button that copies a text and confirms it. */
import { useEffect, useRef, useState } from 'preact/hooks';

/** How long the confirmation is shown. */
const CONFIRMATION_MS = 2000;

interface CopyProps {
  readonly text: string;
  /** What is copied, for the tooltip and screen readers, as in `the id`. */
  readonly what: string;
  /** Label of the button; without it an icon is shown. */
  readonly label?: string;
}

type Result = 'copied' | 'failed' | undefined;

const CONFIRMATIONS = { copied: 'Copied', failed: 'It could not be copied' } as const;
const ICONS = { ready: '⧉', copied: '✓', failed: '✗' } as const;

export function CopyButton({ text, what, label }: CopyProps) {
  const [result, setResult] = useState<Result>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const report = (outcome: Result): void => {
    setResult(outcome);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setResult(undefined), CONFIRMATION_MS);
  };
  const isSign = label === undefined;
  return (
    <button
      type="button"
      class={isSign ? 'copy' : ''}
      title={`Copy ${what}`}
      // The accessible name of a button must include its visible label.
      {...(isSign && {
        'aria-label': result === undefined ? `Copy ${what}` : CONFIRMATIONS[result],
      })}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        copy(text).then(
          () => report('copied'),
          () => report('failed'),
        );
      }}
    >
      {isSign ? (
        <span aria-hidden="true">{ICONS[result ?? 'ready']}</span>
      ) : result === undefined ? (
        label
      ) : (
        CONFIRMATIONS[result]
      )}
    </button>
  );
}

/** Copies a text. Rejects if the browser does not allow it. */
async function copy(text: string): Promise<void> {
  // Without TLS, a page from another machine can copy only through a selection of its own.
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('not copied');
}
