/** Whether a media query matches. */
import { useEffect, useState } from 'preact/hooks';

/** Screens on which columns are stacked; must equal the query in `style/screens.css`. */
export const NARROW = '(max-width: 760px)';

export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = (): void => setHolds(list.matches);
    update();
    list.addEventListener('change', update);
    return () => list.removeEventListener('change', update);
  }, [query]);
  return holds;
}
