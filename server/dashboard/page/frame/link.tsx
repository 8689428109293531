/** A link to another view that keeps the range and filters and does not reload the page. */
import type { JSX } from 'preact';
import { addressOf, follow } from './location.ts';

type LinkProps = Omit<JSX.IntrinsicElements['a'], 'href' | 'id' | 'onClick' | 'role'> & {
  /** The view; empty for the overview. */
  readonly to: string;
  /** Id of the single item that the view shows. */
  readonly id?: string;
  readonly filters?: Parameters<typeof addressOf>[1];
};

export function Link({ to, id, filters, ...rest }: LinkProps) {
  const path = id === undefined ? to : `${to}/${encodeURIComponent(id)}`;
  return <a {...rest} href={addressOf(path, filters)} onClick={follow} />;
}
