/**
 * Hooks: functions called with every request and answer at fixed places, for authors who need no
 * node of the graph. They become two stages, with the time budget and the breaker of every stage.
 */
import type { Settlement, StageContext, StageState } from '../engine/index.ts';
import { toChunk } from '../stages/model/frame.ts';
import type { ChunkFrame, HeadFrame, ProxyFrame, RequestFrame } from '../stages/model/frame.ts';
import { encodeEvent } from '../stages/wire/events.ts';
import type { HandlerStage, OnFault } from './plugin-stage.ts';
import type { StreamEvent } from './stage-tools.ts';

type Context = StageContext<StageState>;
type HandlerOf<K extends ProxyFrame['kind']> = NonNullable<NonNullable<HandlerStage['on']>[K]>;

export interface PluginHooks {
  /**
   * Receives a request after compression, before its provider is chosen. Returns nothing, another
   * frame (see `tools`), or an answer (`tools.answer`); throwing an error of `tools.error` refuses
   * it.
   */
  readonly request?: HandlerOf<'request'>;
  /**
   * Receives status and headers of an answer, cached ones included, right before they go to the
   * client.
   */
  readonly head?: (head: HeadFrame, ctx: Context) => HeadFrame | undefined | void;
  /** Receives one event of a streamed answer; returns another to replace it, or null to drop it. */
  readonly event?: (event: StreamEvent, ctx: Context) => StreamEvent | null | undefined | void;
  /** Called once per request, when its answer has ended or was abandoned. */
  readonly settled?: (settlement: Settlement<ProxyFrame>, ctx: Context) => void;
  /** `fail` (the default) ends the request, `pass` continues as if there were no hook. */
  readonly onFault?: OnFault;
  /** Milliseconds that one hook may wait for a promise; default 1000. */
  readonly timeoutMs?: number;
}

export const HOOK_NAMES = ['request', 'head', 'event', 'settled'] as const;

/**
 * Returns the stages for a plugin's hooks, in the graph as `PLUGIN-request` and `PLUGIN-answer`.
 */
export function toHookStages(plugin: string, hooks: PluginHooks): readonly HandlerStage[] {
  const { request, head, event, settled, onFault, timeoutMs } = hooks;
  const guard = {
    ...(onFault !== undefined && { onFault }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  const stages: HandlerStage[] = [];
  if (request !== undefined)
    stages.push({
      name: `${plugin}-request`,
      before: 'route',
      answers: true,
      ...guard,
      on: { request: (frame: RequestFrame, ctx) => request(frame, ctx) },
    });
  if (head !== undefined || event !== undefined || settled !== undefined)
    stages.push({
      name: `${plugin}-answer`,
      // After meter and keep: they count and keep what the provider sent.
      after: 'trace',
      ...guard,
      ...(event !== undefined && { needs: 'events' as const }),
      ...(settled !== undefined && { settled }),
      on: {
        ...(head !== undefined && {
          head: (frame: HeadFrame, ctx) => head(frame, ctx) ?? undefined,
        }),
        ...(event !== undefined && {
          chunk: (frame: ChunkFrame, ctx) => mapEvents(frame, (one) => event(one, ctx)),
        }),
      },
    });
  return stages;
}

/** Returns the chunk with the hook's changes; unchanged events keep their bytes. */
function mapEvents(
  chunk: ChunkFrame,
  hook: (event: StreamEvent) => StreamEvent | null | undefined | void,
): ChunkFrame | readonly [] | undefined {
  if (chunk.events === undefined) return undefined;
  let isChanged = false;
  const pieces = chunk.events.flatMap(({ event, data, bytes }) => {
    if (data === undefined) return [bytes];
    const changed = hook({ ...(event !== undefined && { event }), data: parseData(data) });
    if (changed === undefined) return [bytes];
    // For example a promise, which would become an event without data in the stream.
    if (changed !== null && changed.data === undefined)
      throw new TypeError('event returns an event with data, null or nothing, and no promise');
    isChanged = true;
    if (changed === null) return [];
    const { event: name, data: value } = changed;
    return [encodeEvent(name, typeof value === 'string' ? value : JSON.stringify(value))];
  });
  if (!isChanged) return undefined;
  return pieces.length === 0 ? [] : toChunk(Buffer.concat(pieces));
}

/** Parses JSON; other data, such as `[DONE]`, is returned as text. */
function parseData(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
