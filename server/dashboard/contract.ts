/**
 * The data sent to the page, as types only: the page runs elsewhere and shares no code with this
 * folder.
 */
export type { RequestJson } from '../../stages/ledger/request-json.ts';
export type { RowOrder, RowOrderKey } from '../../stages/ledger/row-order.ts';
export type { LiveLog, LiveRows } from './feed.ts';
export type { LiveState } from './state.ts';
export type {
  ConversationsJson,
  ReportJson,
  OneRequestJson,
  RequestsJson,
  StacksJson,
  ToolsJson,
} from '../routes/dashboard.ts';
export type { RecipesJson, StagesJson } from '../routes/dashboard-now.ts';
export type { Trace } from '../../stages/ledger/traces.ts';
export type { GraphJson } from '../graph/json.ts';
export type { LostJson } from '../routes/blocks.ts';
