/** What a faulty stage of a plugin causes: a line in the log, and an error that names the stage. */
import { SvcError, isSvcError, toSvcError } from '../engine/index.ts';
import { firstLineOf } from '../stages/providers/hook-fault.ts';

/** Reports faults: each one that fails or skips a request, and the suspension after too many. */
export type ReportFault = (message: string, cause: unknown) => void;

/**
 * Returns the error of a request whose stage `node` threw `thrown`. An error of the proxy's own type
 * is the author's answer.
 */
export function stageFault(node: string, thrown: unknown): SvcError {
  const error = toSvcError(thrown);
  // With a code it says that memory or the disk is full.
  if (isSvcError(thrown) || error.code !== undefined) return error;
  const message = `The plugin stage ${node} failed: ${firstLineOf(thrown)}`;
  return new SvcError('internal', message, { cause: thrown });
}
