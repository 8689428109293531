/**
 * The engine's public entry point. It knows frames and stages, and nothing about models, providers
 * or HTTP.
 */
export { isAnswer, isWhole, streamOf } from './answer.ts';
export type { Answer, LiveAnswer, WholeAnswer } from './answer.ts';
export { createCanceller } from './cancel.ts';
export type { CancelSignal, Canceller } from './cancel.ts';
export { createManualClock, systemClock } from './clock.ts';
export type { Clock, ManualClock } from './clock.ts';
export { Cancelled } from './context.ts';
export type {
  CancelReason,
  InnerRun,
  NoteValue,
  RunInfo,
  StageContext,
  StageState,
} from './context.ts';
export { SvcError, isSvcError, toSvcError } from './error.ts';
export type { ErrorDetails, ErrorKind } from './error.ts';
export type { Frame, FrameKinds, FrameOf } from './frame.ts';
export { compile } from './graph/compile.ts';
export type { Compiled, CompileOptions, Plan } from './graph/compile.ts';
export { describePlan } from './graph/describe.ts';
export type { NodeOutline, PlanOutline } from './graph/describe.ts';
export { chain } from './graph/declare.ts';
export type { Graph, GraphEdge, GraphFault, GraphNode, Insertion } from './graph/declare.ts';
export { cutText, truncateText } from './truncate-text.ts';
export { run } from './run.ts';
export type { Sink } from './respond.ts';
export type { Outcome, Settlement } from './settle.ts';
export type { Span } from './spans.ts';
export { KeptSpans } from './spans.ts';
export { defineStage } from './stage.ts';
export type {
  Handlers,
  Watchers,
  Behaviour,
  Handled,
  HandlerBehaviour,
  Stage,
  StageDefinition,
  TransformBehaviour,
} from './stage.ts';
export { toTransform } from './to-transform.ts';
export { createDeferredWork, createTurn } from './turn.ts';
export type { DeferredWork, WorkQueue, Turn } from './turn.ts';
