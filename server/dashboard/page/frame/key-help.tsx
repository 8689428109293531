/** The help dialog with all keyboard shortcuts. */
import { useEffect, useRef } from 'preact/hooks';

interface KeyHelpProps {
  /** Second keys after `g`, with the name of the view they open. */
  readonly places: readonly (readonly [letter: string, name: string])[];
  readonly onClose: () => void;
}

const KEYS: readonly (readonly [keys: string, words: string])[] = [
  ['/', 'search requests'],
  ['j k', 'next or previous request, or scroll'],
  ['Enter', 'open the chosen request'],
  ['f', 'only failed requests, or all'],
  ['r', 'another range of time'],
  ['?', 'this help'],
];

export function KeyHelp({ places, onClose }: KeyHelpProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog class="card" aria-labelledby="keys-title" ref={dialog} onClose={onClose}>
      <header>
        <h2 id="keys-title">Keys</h2>
        <button type="button" onClick={() => dialog.current!.close()}>
          Close
        </button>
      </header>
      <dl class="keys">
        {[...KEYS, ...places.map(([letter, name]) => [`g ${letter}`, name] as const)].map(
          ([keys, words]) => (
            <div key={keys}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{words}</dd>
            </div>
          ),
        )}
      </dl>
    </dialog>
  );
}
