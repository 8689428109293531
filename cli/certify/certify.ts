/** `svc certify`: checks the promises of svc on this machine's sessions. */
import { join, resolve } from 'node:path';
import { SvcError } from '../../engine/error.ts';
import type { CliContext } from '../context.ts';
import { counted, note, printJson } from '../screen/output.ts';
import {
  followed,
  resolveFolder,
  noteFailed,
  sessionsIn,
  settingsOf,
} from '../estimate/sessions.ts';
import type { SessionFlags } from '../estimate/sessions.ts';

export interface CertifyFlags extends SessionFlags {
  readonly mode: string | undefined;
  /** A folder of another tool's bodies. */
  readonly pairs: string | undefined;
  /** Where to write the page. */
  readonly html: string | undefined;
}

/** Prints the certificate; true if all promises hold. */
export async function certifySessions(flags: CertifyFlags, context: CliContext): Promise<boolean> {
  const [{ certify }, { jobOptions }, view, { openLearned }] = await Promise.all([
    import('../../server/certify/certify.ts'),
    import('../preview/options.ts'),
    import('./view.ts'),
    import('../../stages/learned/learned.ts'),
  ]);
  if (flags.pairs !== undefined && flags.folder !== undefined)
    throw new SvcError('usage', '--pairs names its own folder', {
      cure: 'Leave the other folder out.',
    });
  const { config, prices, maxTimeMs } = await settingsOf(flags, context, flags.mode);
  const options = {
    ...(await jobOptions(config, context)),
    coldTrimMs: config.compression.coldTrimMs,
  };
  const { clock } = context;
  const learned = await openLearned({
    file: join(config.home, 'learned.json'),
    clock,
    onProblem: (error) => note(context, error.message),
  });
  const tokenRatio = (model: string | null): number => learned.tokenRatio(model);
  const job = { options, prices, clock, maxTimeMs, tokenRatio };
  const pairs = flags.pairs === undefined ? undefined : resolveFolder(flags.pairs, context);
  const folders = pairs === undefined ? await sessionsIn(flags, context) : [pairs];
  const found = await followed(context, (progress) =>
    certify({ ...job, folders, progress, ...(pairs !== undefined && { pairs }) }),
  );
  if (found.conversations === 0 && (flags.folder ?? pairs) !== undefined) {
    noteFailed(context, found.failed);
    throw new SvcError('not_found', `There is no session in ${folders.join(', ')}`, {
      cure:
        pairs === undefined
          ? 'Sessions of Claude Code, Codex, Gemini CLI and OpenCode are read, and captures of svc.'
          : 'A body as its client sent it is NAME.before.json, as the tool sends it NAME.after.json.',
    });
  }
  const isDemo = found.conversations === 0;
  const certificate = isDemo ? await overDemo() : found;
  const { sessions, counts } = certificate;
  if (!isDemo && pairs === undefined) {
    const { storeResult: keepResult } = await import('../../server/certify/stored-result.ts');
    await keepResult(config.home, certificate, clock.wallMs());
  }
  const what = isDemo
    ? 'the demo’s session, since there is none on this machine'
    : `${counted(sessions, 'session')}, ${counted(counts.turns, 'request')}, ${pairs === undefined ? `mode ${options.mode}` : 'another tool'}`;
  if (flags.html !== undefined) {
    const { certificateHtml } = await import('./html.ts');
    const { replaceFile } = await import('../../stages/private-file.ts');
    const made = `svc ${context.version}, ${new Date(clock.wallMs()).toISOString()}`;
    const page = certificateHtml(certificate, what, made);
    await replaceFile(resolve(context.cwd, flags.html), (draft) => draft.writeFile(page));
  }
  if (flags.json) printJson(context, view.certificateJson(certificate, isDemo));
  else view.printCertificate(context, certificate, what);
  return certificate.holds;

  async function overDemo() {
    const { demoConversation } = await import('./demo.ts');
    const conversations = [await demoConversation()];
    return certify({ ...job, folders: [], conversations });
  }
}
