/** Names and values, side by side if there is room. */
import type { ComponentChildren } from 'preact';

interface FactsProps {
  readonly rows: readonly (readonly [name: string, value: string])[];
  /** Facts with more than text. */
  readonly children?: ComponentChildren;
}

export function Facts({ rows, children }: FactsProps) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {children}
    </dl>
  );
}
