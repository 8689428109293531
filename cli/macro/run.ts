/** Runs the steps of a macro in order, and stops at the first failure. */
import { SvcError, toSvcError } from '../../engine/error.ts';
import { actionOf } from '../../stages/macros/actions.ts';
import type { CommandAction, CommandStep } from '../../stages/macros/macro.ts';
import { homeOf } from '../context.ts';
import { onEnd } from '../process/signals.ts';
import { control } from '../remote.ts';
import type { Json } from '../remote.ts';
import { check, describe, outputOf, perform } from './steps.ts';
import type { Done, StepTools } from './steps.ts';

export type StepState = 'done' | 'failed' | 'not_run' | 'would_run';

export interface StepReport {
  /** Counted from 1. */
  readonly step: number;
  readonly action: CommandAction;
  readonly does: string;
  readonly state: StepState;
  readonly said: string | null;
  readonly result: Json | null;
  readonly undo: string | null;
}

export interface RunReport {
  readonly steps: readonly StepReport[];
  /** The error that stopped it, with the steps done before. */
  readonly error: SvcError | undefined;
}

export interface RunOptions extends StepTools {
  readonly name: string;
  /** First step to run, counted from 1. */
  readonly from: number;
  readonly isDryRun: boolean;
  /** Called for each completed step. */
  readonly onDone: (report: StepReport, done: Done) => void;
}

/**
 * Checks everything that can be checked in advance before the first step. Never rejects because of
 * a step: errors are in the report.
 */
export async function runSteps(
  all: readonly CommandStep[],
  options: RunOptions,
): Promise<RunReport> {
  const reports: StepReport[] = all.map((step, at) => ({
    step: at + 1,
    action: step.action,
    does: describe(step),
    state: options.isDryRun && at + 1 >= options.from ? 'would_run' : 'not_run',
    said: null,
    result: null,
    undo: null,
  }));
  const steps = all.map((step, at) => ({ step, at })).slice(options.from - 1);
  const refused = await checkAll(steps, options);
  if (refused !== undefined || options.isDryRun) return { steps: reports, error: refused };
  let isInterrupted = false;
  // The current step is the last.
  const stopListening = onEnd(options.context, () => (isInterrupted = true));
  try {
    for (const { step, at } of steps) {
      try {
        if (isInterrupted) throw new SvcError('cancelled', 'it was interrupted');
        const done = await perform(step, options);
        const { said, result, undo } = done;
        reports[at] = { ...reports[at]!, state: 'done', said, result, undo };
        options.onDone(reports[at], done);
      } catch (thrown) {
        const cause = toSvcError(thrown);
        const isFailed = cause.kind !== 'cancelled';
        if (isFailed) reports[at] = { ...reports[at]!, state: 'failed', said: cause.message };
        return { steps: reports, error: stopped(options, reports, at, cause) };
      }
    }
  } finally {
    stopListening();
  }
  return { steps: reports, error: undefined };
}

interface Placed {
  readonly step: CommandStep;
  readonly at: number;
}

/** Returns undefined if there are no objections. */
async function checkAll(
  steps: readonly Placed[],
  options: RunOptions,
): Promise<SvcError | undefined> {
  const { name, context } = options;
  const faults: {
    readonly at: number;
    readonly action: CommandAction;
    readonly error: SvcError;
  }[] = [];
  const written = new Set<string>();
  for (const { step, at } of steps) {
    try {
      await check(step, options, written);
    } catch (thrown) {
      faults.push({ at, action: step.action, error: toSvcError(thrown) });
    }
    const output = outputOf(step, context);
    if (output !== undefined) written.add(output);
  }
  const first = steps.find(({ step }) => actionOf(step.action).needsProxy);
  if (first !== undefined)
    await control(homeOf(context), 'status').catch((thrown: unknown) => {
      faults.push({ at: first.at, action: first.step.action, error: toSvcError(thrown) });
    });
  const [one] = faults;
  if (one === undefined) return undefined;
  const lines = faults
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, action, error }) => `  - step ${at + 1} (${action}): ${error.message}`);
  const { cure } = one.error;
  return new SvcError(
    one.error.kind,
    `Macro ${name} cannot run; nothing was done\n${lines.join('\n')}`,
    { cause: one.error, cure },
  );
}

function stopped(
  { name }: RunOptions,
  reports: readonly StepReport[],
  at: number,
  cause: SvcError,
): SvcError {
  const failed = reports[at]!;
  const done = reports.filter(({ state }) => state === 'done');
  const later = reports.slice(cause.kind === 'cancelled' ? at : at + 1);
  const nameOf = ({ step, action }: StepReport) => `${step} (${action})`;
  const lines = [
    ...done.map((one) => `done: step ${nameOf(one)}; ${one.undo ?? ''}`),
    ...(done.length === 0 ? ['nothing was done before it'] : []),
    ...(later.length === 0 ? [] : [`not run: step ${later.map(nameOf).join(', ')}`]),
  ];
  const again = failed.step === 1 ? name : `${name} --from ${failed.step}`;
  const where = `Macro ${name} stopped at step ${failed.step} of ${reports.length} (${failed.action})`;
  return new SvcError(
    cause.kind,
    `${where}: ${cause.message}\n${lines.map((line) => `  - ${line}`).join('\n')}`,
    {
      cause,
      cure: `${cause.cure === undefined ? '' : `${cause.cure}\n`}Then \`svc macro run ${again}\` continues.`,
    },
  );
}
