/** What the page is sent, as types alone: the page runs elsewhere and takes no code from here. */
export type { RequestJson } from '../../stages/ledger/report.ts';
export type { LiveRows, LiveState } from './feed.ts';
export type { RequestsAnswer } from '../routes/dashboard.ts';
