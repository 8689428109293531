/** A filter that is typed: it counts once the typing stops, for every change asks the proxy anew. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { setFilters } from '../frame/location.ts';

/** How long a pause ends the typing. */
const PAUSE_MS = 250;

interface TypedFilterProps {
  readonly name: string;
  /** What the address says. */
  readonly value: string;
  readonly placeholder?: string;
  /** The key that leads here. */
  readonly shortcut?: string;
}

export function TypedFilter({ name, value, placeholder, shortcut }: TypedFilterProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const commit = (text: string): void => {
    clearTimeout(timer.current);
    if (text !== value) setFilters({ [name]: text }, true);
  };
  // Another address, such as of the button that clears, or of the way back.
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
