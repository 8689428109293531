/** What each key does in the dashboard. */
import { RANGES } from '../../server/dashboard/page/frame/ranges.ts';
import type { Model } from './model.ts';
import { TABS, visibleRequests, selectedIndex } from './model.ts';

/** A key as named by node's readline. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly shift?: boolean | undefined;
}

/** Returns the model after a key; `quit` if that ends it. `height` is that of the view. */
export function press(model: Model, key: Key, height: number): Model | 'quit' {
  const { name = '', sequence = '' } = key;
  if ((key.ctrl === true && (name === 'c' || name === 'd')) || (name === 'q' && key.ctrl !== true))
    return 'quit';
  if (sequence === '?') return { ...model, isHelp: !model.isHelp, scroll: 0 };
  if (['escape', 'backspace'].includes(name)) {
    if (model.isHelp) return { ...model, isHelp: false, scroll: 0 };
    return { ...model, detail: undefined, scroll: 0 };
  }
  const digit = /^[1-5]$/.test(sequence) ? Number(sequence) - 1 : undefined;
  if (digit !== undefined) return toTab(model, digit);
  const isBack = name === 'left' || name === 'h' || (name === 'tab' && key.shift === true);
  if (isBack || ['tab', 'right', 'l'].includes(name))
    return toTab(model, TABS.indexOf(model.tab) + (isBack ? TABS.length - 1 : 1));
  if (name === 'r') {
    const at = RANGES.findIndex(({ id }) => id === model.range.id);
    return { ...model, range: RANGES[(at + 1) % RANGES.length]! };
  }
  if (name === 'f') return { ...model, failedOnly: !model.failedOnly, selectedId: undefined };
  const isList = model.tab === 'requests' && model.detail === undefined && !model.isHelp;
  if (isList && (name === 'return' || name === 'enter')) {
    const row = visibleRequests(model)[selectedIndex(model)];
    return row === undefined ? model : { ...model, detail: { id: row.request_id }, scroll: 0 };
  }
  const step = stepOf(key, height);
  if (step === undefined) return model;
  if (!isList) return { ...model, scroll: Math.max(0, model.scroll + step) };
  const rows = visibleRequests(model);
  const at = Math.max(0, Math.min(rows.length - 1, selectedIndex(model) + step));
  // The first stays the newest, as new ones arrive.
  return { ...model, selectedId: at === 0 ? undefined : rows[at]?.request_id };
}

function toTab(model: Model, index: number): Model {
  const tab = TABS[index % TABS.length]!;
  return { ...model, tab, detail: undefined, isHelp: false, scroll: 0 };
}

/** Beyond the end of any list. */
const END = 1_000_000;

function stepOf({ name, shift }: Key, height: number): number | undefined {
  const page = Math.max(1, height - 2);
  switch (name) {
    case 'up':
    case 'k':
      return -1;
    case 'down':
    case 'j':
      return 1;
    case 'pageup':
      return -page;
    case 'pagedown':
    case 'space':
      return page;
    case 'home':
      return -END;
    case 'end':
      return END;
    case 'g':
      return shift === true ? END : -END;
    case undefined:
    default:
      return undefined;
  }
}
