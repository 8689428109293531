/** The frame around every view: navigation, the state of the proxy, and the time range. */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CausesView } from '../causes.tsx';
import { ConversationView, ConversationsView } from '../conversations.tsx';
import { GraphView } from '../graph.tsx';
import { verdictOf } from '../conditions.ts';
import { KeyForm } from './key-form.tsx';
import { spanOf } from '../format.ts';
import { connection, state, stayConnected } from '../live.ts';
import { Link } from './link.tsx';
import { KeyHelp } from './key-help.tsx';
import { useKeys } from './keys.ts';
import type { KeyActions } from './keys.ts';
import { addressOf, go, setFilters, useRoute } from './location.ts';
import type { Route } from './location.ts';
import { LogView } from '../log-view.tsx';
import { MonitorView } from '../monitor.tsx';
import { Overview } from '../overview.tsx';
import { RANGES, rangeOf } from './ranges.ts';
import { ProvidersView } from '../providers.tsx';
import { RecipesView } from '../recipes.tsx';
import { RequestView } from '../request/request.tsx';
import { RequestsView } from '../requests/requests.tsx';
import { SavingsView } from '../savings.tsx';
import { logOut, logins, mayLogOut, needsKey } from '../api.ts';
import { useStore } from '../store.ts';

interface View {
  /** Its name in the navigation; not listed without one. */
  readonly name?: string;
  /** The key that opens it after `g`. */
  readonly letter?: string;
  /** The view highlighted in the navigation in place of this one. */
  readonly parent?: string;
  /** Its page in the documentation; by default the page about the dashboard. */
  readonly docs?: string;
  /** True if the time range does not apply: it shows the current state, or a single item. */
  readonly isTimeless?: true;
  readonly show: (route: Route) => VNode;
}

const VIEWS: ReadonlyMap<string, View> = new Map<string, View>([
  ['', { name: 'Overview', letter: 'o', show: () => <Overview /> }],
  ['live', { name: 'Live', letter: 'v', show: () => <MonitorView /> }],
  [
    'requests',
    { name: 'Requests', letter: 'r', show: ({ query }) => <RequestsView query={query} /> },
  ],
  ['request', { parent: 'requests', isTimeless: true, show: ({ id }) => <RequestView id={id} /> }],
  [
    'conversations',
    {
      name: 'Conversations',
      docs: 'cache-misses',
      letter: 'c',
      show: ({ query }) => <ConversationsView query={query} />,
    },
  ],
  [
    'conversation',
    { parent: 'conversations', isTimeless: true, show: ({ id }) => <ConversationView id={id} /> },
  ],
  [
    'savings',
    {
      name: 'Savings',
      docs: 'figures',
      letter: 's',
      show: ({ query }) => <SavingsView query={query} />,
    },
  ],
  [
    'recipes',
    {
      name: 'Recipes',
      docs: 'recipes',
      letter: 'i',
      isTimeless: true,
      show: () => <RecipesView />,
    },
  ],
  [
    'providers',
    { name: 'Providers', docs: 'providers', letter: 'p', show: () => <ProvidersView /> },
  ],
  [
    'errors',
    {
      name: 'Errors',
      docs: 'troubleshooting',
      letter: 'e',
      show: ({ query }) => <CausesView query={query} />,
    },
  ],
  [
    'graph',
    {
      name: 'Graph',
      docs: 'architecture',
      letter: 'g',
      isTimeless: true,
      show: () => <GraphView />,
    },
  ],
  [
    'log',
    {
      name: 'Log',
      docs: 'troubleshooting',
      letter: 'l',
      isTimeless: true,
      show: ({ query }) => <LogView query={query} />,
    },
  ],
  ['login', { isTimeless: true, show: () => <KeyForm link={location.hash.slice(1)} /> }],
]);

export function App() {
  const route = useRoute();
  const wantsKey = useStore(needsKey);
  useEffect(() => {
    const abort = new AbortController();
    void stayConnected(abort.signal);
    return () => abort.abort();
  }, []);
  const view = VIEWS.get(route.view);
  const current = view?.parent ?? route.view;
  const title = VIEWS.get(current)?.name;
  useEffect(() => {
    document.title = title === undefined ? 'svc' : `${title} · svc`;
  }, [title]);
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the navigation scrolls, so the current view's link may be out of sight.
    navigation.current
      ?.querySelector('[aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  const main = useRef<HTMLElement>(null);
  const [isHelp, setHelp] = useState(false);
  useKeys(isHelp ? HELP_KEYS : pageKeys(route, main, () => setHelp(true)));
  useStartAtTop(main, `${route.view}/${route.id}`);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Link class="brand" to="">
          svc
        </Link>
        <nav aria-label="Views" ref={navigation}>
          {[...VIEWS].map(
            ([to, { name }]) =>
              name !== undefined && (
                <Link key={to} to={to} {...(to === current && { 'aria-current': 'page' as const })}>
                  {name}
                </Link>
              ),
          )}
        </nav>
        <div class="top-end">
          <Status />
          {view?.isTimeless !== true && <RangeChoice query={route.query} />}
          {/* Without a key only the first page of the documentation is shown. */}
          <a class="docs" href={wantsKey ? '/docs' : `/docs/${view?.docs ?? 'dashboard'}`}>
            Docs
          </a>
          <LogOut />
          <button
            type="button"
            class="on-desktop"
            title="Keys"
            aria-label="Keys"
            onClick={() => setHelp(true)}
          >
            ?
          </button>
        </div>
      </header>
      {isHelp && <KeyHelp places={PLACES} onClose={() => setHelp(false)} />}
      <main id="main" tabIndex={0} ref={main}>
        {wantsKey && route.view !== 'login' ? <KeyForm /> : (view?.show(route) ?? <NoView />)}
      </main>
    </>
  );
}

const PLACES: readonly (readonly [letter: string, name: string])[] = [...VIEWS.values()].flatMap(
  ({ letter, name }) => (letter === undefined || name === undefined ? [] : [[letter, name]]),
);

/** While the help is open, `?` closes it and no other key works. */
const HELP_KEYS: KeyActions = {
  '?': () => document.querySelector<HTMLDialogElement>('dialog[open]')?.close(),
};

/** How far `j` and `k` scroll in a view without a list. */
const SCROLL_PX = 80;

function pageKeys(
  { query, view }: Route,
  main: { readonly current: HTMLElement | null },
  onHelp: () => void,
): KeyActions {
  const places = [...VIEWS].flatMap(([to, { letter }]) =>
    letter === undefined ? [] : [[`g${letter}`, () => go(addressOf(to))] as const],
  );
  const scroll = (by: number) => () => {
    // A list handles these keys itself, moving from row to row.
    if (document.querySelector('.fill .list') !== null) return false;
    main.current?.scrollBy(0, by);
    return true;
  };
  return {
    ...Object.fromEntries(places),
    '?': onHelp,
    '/': () => search(view),
    j: scroll(SCROLL_PX),
    k: scroll(-SCROLL_PX),
    f: () => setFilters({ failed: query.get('failed') === '1' ? null : '1', outcome: null }),
    r: () => {
      const at = RANGES.findIndex(({ id }) => id === rangeOf(query).id);
      setFilters({ range: RANGES[(at + 1) % RANGES.length]!.id });
    },
  };
}

/** Focuses the search field of this view, or opens the requests for theirs. */
function search(view: string): void {
  const field = (): HTMLElement | null => document.querySelector('.filters input[type=search]');
  if (field() === null && view !== 'requests') go(addressOf('requests'));
  // The other view has to render first.
  requestAnimationFrame(() => field()?.focus());
}

/** Scrolls a new view to its top; moves the focus there if the followed link is gone. */
function useStartAtTop(main: { readonly current: HTMLElement | null }, place: string): void {
  const known = useRef(place);
  useLayoutEffect(() => {
    if (known.current === place) return;
    known.current = place;
    main.current?.scrollTo(0, 0);
    const { activeElement, body } = document;
    if (activeElement === null || activeElement === body)
      main.current?.focus({ preventScroll: true });
  }, [place]);
}

function NoView() {
  return (
    <section class="pad">
      <h1>There is no such page</h1>
      <p>
        <Link to="">To the overview</Link>
      </p>
    </section>
  );
}

function RangeChoice({ query }: { readonly query: URLSearchParams }) {
  return (
    <label class="range">
      <span class="hidden">Time</span>
      <select
        name="range"
        value={rangeOf(query).id}
        onChange={(event) => setFilters({ range: event.currentTarget.value })}
      >
        {RANGES.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The button to log out; shown only with a session. */
function LogOut() {
  const wantsKey = useStore(needsKey);
  useStore(logins);
  const [hasFailed, setFailed] = useState(false);
  if (wantsKey || !mayLogOut()) return null;
  return (
    <>
      <button type="button" onClick={() => void logOut().catch(() => setFailed(true))}>
        Log out
      </button>
      {hasFailed && (
        <span class="fault" role="alert">
          Still logged in
        </span>
      )}
    </>
  );
}

function Status() {
  const line = useStore(connection);
  const live = useStore(state);
  if (line === 'lost' || live === undefined) {
    const words = line === 'lost' ? 'No connection' : 'Connecting';
    return (
      <span class={`status ${line === 'lost' ? 'bad' : 'idle'}`} role="status">
        {words}
      </span>
    );
  }
  const { health } = live;
  const [words, kind] = verdictOf(live);
  return (
    <span
      class={`status ${kind}`}
      role="status"
      title={`svc ${health.version}, up ${spanOf(health.uptime_seconds)}`}
    >
      {words}
    </span>
  );
}
