/** The state of the dashboard in the terminal; frames are drawn from it alone. */
import type {
  LiveState,
  ReportJson,
  OneRequestJson,
  RequestJson,
} from '../../server/dashboard/contract.ts';
import { DEFAULT_RANGE, RANGES } from '../../server/dashboard/page/frame/ranges.ts';
import type { Range } from '../../server/dashboard/page/frame/ranges.ts';

export const TABS = ['overview', 'requests', 'providers', 'savings', 'log'] as const;
export type Tab = (typeof TABS)[number];

/** A request shown in detail. */
export interface Detail {
  readonly id: string;
  /** Undefined until the proxy has responded. */
  readonly json?: Pick<OneRequestJson, 'request' | 'trace'>;
  readonly error?: string;
}

export interface Model {
  readonly version: string;
  /** How the user invokes svc. */
  readonly program: string;
  /** Address of the proxy; null if unknown. */
  readonly url: string | null;
  readonly nowMs: number;
  readonly connection: 'connecting' | 'live' | 'lost';
  /** Why there is no connection, and what helps. */
  readonly connectionProblem: readonly string[];
  readonly live: LiveState | undefined;
  readonly report: ReportJson | undefined;
  /** Newest first; undefined until the ledger has been read. */
  readonly requests: readonly RequestJson[] | undefined;
  /** JSON lines, oldest first. */
  readonly logLines: readonly string[];
  readonly tab: Tab;
  readonly range: Range;
  readonly failedOnly: boolean;
  /** The selected request; undefined selects whichever is newest. */
  readonly selectedId: string | undefined;
  /** Lines of the view above the screen. */
  readonly scroll: number;
  readonly detail: Detail | undefined;
  readonly isHelp: boolean;
}

export function firstModel(known: Pick<Model, 'version' | 'program' | 'url' | 'nowMs'>): Model {
  return {
    ...known,
    connection: 'connecting',
    connectionProblem: [],
    live: undefined,
    report: undefined,
    requests: undefined,
    logLines: [],
    tab: 'overview',
    range: RANGES.find(({ id }) => id === DEFAULT_RANGE)!,
    failedOnly: false,
    selectedId: undefined,
    scroll: 0,
    detail: undefined,
    isHelp: false,
  };
}

/** Returns the requests shown in the list. */
export function visibleRequests({ requests = [], failedOnly }: Model): readonly RequestJson[] {
  return failedOnly ? requests.filter((row) => row.failed) : requests;
}

/** Returns the index of the selected request in the list. */
export function selectedIndex(model: Model): number {
  return Math.max(
    0,
    visibleRequests(model).findIndex((row) => row.request_id === model.selectedId),
  );
}
