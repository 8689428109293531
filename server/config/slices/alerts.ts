/** `alerts`: when to say that something is amiss. */
import { setting } from '../setting.ts';
import { between, isMap, listOf, whole, words } from '../value.ts';
import type { ValueType } from '../value.ts';

/** One rule as it is written. Which metric, and that one limit stands there, is checked in checks.ts. */
export interface WrittenAlert {
  readonly name: string;
  readonly when: {
    readonly metric: string;
    readonly above?: number;
    readonly below?: number;
    readonly window_minutes?: number;
  };
  readonly message?: string;
  readonly cooldown_minutes?: number;
}

const LIMIT = between(-1e12, 1e12);
const MINUTES = whole(1, 44_640, 'minutes,');
const WHEN = { metric: words, 'above?': LIMIT, 'below?': LIMIT, 'window_minutes?': MINUTES };
const RULE = { name: words, 'message?': words, 'cooldown_minutes?': MINUTES };

type Members = Readonly<Record<string, ValueType<string> | ValueType<number>>>;

const ALERT: ValueType<WrittenAlert> = {
  form: 'structure',
  text: 'a map with name, when and, if wanted, message and cooldown_minutes',
  definition: { shape: { ...definitionsOf(RULE), when: { shape: definitionsOf(WHEN) } } },
  accepts: (value): value is WrittenAlert => {
    if (!isMap(value)) return false;
    const { when, ...rest } = value;
    return fits(rest, RULE) && isMap(when) && fits(when, WHEN);
  },
};

function definitionsOf(members: Members) {
  return Object.fromEntries(Object.entries(members).map(([name, type]) => [name, type.definition]));
}

/** A name that ends in `?` may be left out. */
function fits(value: Readonly<Record<string, unknown>>, members: Members): boolean {
  const names = Object.keys(members).map((name) => name.replace('?', ''));
  return (
    Object.keys(value).every((name) => names.includes(name)) &&
    Object.entries(members).every(([name, type]) => {
      const plain = name.replace('?', '');
      return Object.hasOwn(value, plain) ? type.accepts(value[plain]) : plain !== name;
    })
  );
}

export const alerts = {
  alerts: setting({
    type: listOf(
      ALERT,
      'a list of maps, each with name, when: { metric, above or below, window_minutes }, message and cooldown_minutes',
    ),
    default: [],
    about:
      'Rules that a running proxy evaluates every minute and `svc check-alerts` at once, such as `{ name: slow, when: { metric: p95_latency_ms, above: 20000, window_minutes: 15 }, cooldown_minutes: 60 }`.',
    guarded: true,
  }),
};
