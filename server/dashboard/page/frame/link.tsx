/** A link to another view: with the present range and filters, and without loading the page anew. */
import type { JSX } from 'preact';
import { addressOf, follow } from './location.ts';

type LinkProps = Omit<JSX.IntrinsicElements['a'], 'href' | 'id' | 'onClick' | 'role'> & {
  /** The view; empty for the overview. */
  readonly to: string;
  /** The one thing that the view shows. */
  readonly id?: string;
  readonly filters?: Parameters<typeof addressOf>[1];
};

export function Link({ to, id, filters, ...rest }: LinkProps) {
  const path = id === undefined ? to : `${to}/${encodeURIComponent(id)}`;
  return <a {...rest} href={addressOf(path, filters)} onClick={follow} />;
}
