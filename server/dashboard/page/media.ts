/** Whether a media query holds. */
import { useEffect, useState } from 'preact/hooks';

/** Where columns stand below each other; `style/screens.css` has the same. */
export const NARROW = '(max-width: 760px)';

export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const look = (): void => setHolds(list.matches);
    look();
    list.addEventListener('change', look);
    return () => list.removeEventListener('change', look);
  }, [query]);
  return holds;
}
