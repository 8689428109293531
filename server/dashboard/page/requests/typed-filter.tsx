/** A text filter, applied only when typing pauses, since every change queries the proxy. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { setFilters } from '../frame/location.ts';

/** Pause after which the text is applied. */
const PAUSE_MS = 250;

interface TypedFilterProps {
  readonly name: string;
  /** The value in the URL. */
  readonly value: string;
  readonly placeholder?: string;
  /** The keyboard shortcut that focuses it. */
  readonly shortcut?: string;
}

export function TypedFilter({ name, value, placeholder, shortcut }: TypedFilterProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const commit = (text: string): void => {
    clearTimeout(timer.current);
    if (text !== value) setFilters({ [name]: text }, true);
  };
  // The URL may change elsewhere, such as through the clear button or browser history.
  useEffect(() => setTyped(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      name={name}
      type="search"
      value={typed}
      {...(placeholder !== undefined && { placeholder })}
      {...(shortcut !== undefined && { 'aria-keyshortcuts': shortcut })}
      onInput={({ currentTarget: { value: text } }) => {
        setTyped(text);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => commit(text), PAUSE_MS);
      }}
      onChange={({ currentTarget: { value: text } }) => commit(text)}
    />
  );
}
