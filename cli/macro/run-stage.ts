/** Runs a stage macro on a file: shows what it would make of that as a tool result. */
import { resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { Config } from '../../server/config/config.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input-file.ts';
import { jobOptions } from '../preview/options.ts';

export interface StageRun {
  readonly file: string;
  /** The text that would be sent. */
  readonly text: string;
  /** Names of the rules that changed it, in order. */
  readonly by: readonly string[];
  /** Why it would be sent unchanged; null if it was changed. */
  readonly reason: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface StageRunOptions {
  readonly name: string;
  readonly file: string | undefined;
  /** The command that printed the file; if absent, the file counts as read by a tool. */
  readonly command: string | undefined;
  readonly config: Config;
  readonly context: CliContext;
}

/** Compresses a file of any size: it stands for a result in a long conversation. */
export async function runStage(options: StageRunOptions): Promise<StageRun> {
  const { name, file, command, config, context } = options;
  if (file === undefined)
    throw new SvcError('usage', `Macro ${name} is a stage: name the file to run it on`, {
      cure: `As a stage of every request it is listed in \`macros: [${name}]\`, of one conversation in the header x-svc-macro.`,
    });
  const path = resolve(context.cwd, file);
  const text = readInput(path).toString();
  const { tools: _, ...job } = await jobOptions(config, context, name);
  const { createConversationCompressor } =
    await import('../../stages/compress/worker/conversation-compressor.ts');
  const block = {
    index: 0,
    role: 'tool',
    kind: 'tool_result' as const,
    text,
    ...(command === undefined
      ? { toolName: 'Read', toolInput: { file_path: path } }
      : { toolName: 'Bash', toolInput: { command } }),
  };
  const [outcome] = await createConversationCompressor(0).compress({
    blocks: [block],
    options: { ...job, thresholdTokens: 0 },
  });
  if (outcome === undefined) throw new SvcError('internal', 'A file has no outcome');
  return {
    file,
    text: outcome.text ?? text,
    by: outcome.by,
    reason: outcome.changed ? null : (outcome.reason ?? null),
    tokensBefore: outcome.tokensBefore,
    tokensAfter: outcome.tokensAfter,
  };
}
