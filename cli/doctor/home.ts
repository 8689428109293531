/** Checks of the home folder and the configuration. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { inspectConfig } from '../../server/config/load.ts';
import type { LoadedConfig } from '../../server/config/load.ts';
import { ensurePrivateFolder } from '../../server/config/home.ts';
import { SvcError } from '../../engine/error.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import { pidFile, readInstance, removeStale, runningInstance } from '../process/daemon.ts';
import { toLoadOptions } from '../parse/flags.ts';
import type { ServeFlags } from '../parse/flags.ts';
import { counted } from '../screen/output.ts';
import { fault, ok, remark, warning } from './finding.ts';
import type { Examined, Finding, Found } from './finding.ts';

/** Safeguard; the home folder normally has few files. */
const MAX_FILES = 20_000;

/** Loads what a start with these flags would read. */
export async function checkConfig(
  context: CliContext,
  flags: ServeFlags,
): Promise<{ loaded: LoadedConfig | undefined; findings: Finding[] }> {
  const cure = '`svc config validate` lists every fault with its place.';
  try {
    const { loaded, faults } = await inspectConfig(toLoadOptions(flags, context));
    if (loaded === undefined) {
      const findings = faults.map(({ text }) => fault('Configuration', 'config', text, cure));
      return { loaded, findings };
    }
    const file =
      loaded.configFile === undefined ? 'defaults' : shortPath(loaded.configFile, context);
    return {
      loaded,
      findings: [
        ok('Configuration', `valid (${file})`),
        ...loaded.warnings.map((text) => remark('Configuration', text)),
      ],
    };
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    const findings = [fault('Configuration', 'config', thrown.message, thrown.cure ?? cure)];
    return { loaded: undefined, findings };
  }
}

/** Checks the folder itself, and who may read its contents. */
export function checkHome({ context, home }: Examined): Found {
  const name = 'Home folder';
  const short = shortPath(home, context);
  const stat = fs.statSync(home, { throwIfNoEntry: false });
  if (stat === undefined) {
    return warning(
      name,
      `${short} does not exist yet`,
      'A start creates it; --fix creates it now.',
      () => ensurePrivateFolder(home),
    );
  }
  if (!stat.isDirectory())
    return fault(name, 'config', `${short} is not a folder`, 'Move it away, or set SVC_HOME.');
  const own = process.getuid?.();
  if (own !== undefined && stat.uid !== own)
    return fault(
      name,
      'config',
      `${short} belongs to another user`,
      'Choose a folder of your own with SVC_HOME.',
    );
  try {
    fs.accessSync(home, fs.constants.W_OK);
  } catch (thrown) {
    const isMode = (thrown as NodeJS.ErrnoException).code !== 'EROFS';
    const cure = 'set SVC_HOME to a folder of your own that can be written.';
    return fault(
      name,
      'config',
      `${short} cannot be written: ${reasonOf(thrown)}`,
      isMode ? `chmod u+w ${short}, or ${cure}` : `S${cure.slice(1)}`,
    );
  }
  const open = openPaths(home);
  if (open.length === 0) return ok(name, `${short}, readable only by you`);
  const first = shortPath(open[0] ?? '', context);
  const others = open.length === 1 ? '' : ` and ${counted(open.length - 1, 'other')}`;
  return warning(
    name,
    `others may read ${first}${others}: keys, questions and answers can be in there`,
    `--fix removes that permission; by hand: chmod -R go= ${short}`,
    () => open.forEach((path) => fs.chmodSync(path, fs.statSync(path).mode & 0o700)),
  );
}

/** Finds a pid file whose process is gone. */
export function checkPidFile({ context, home }: Examined): Found {
  const path = pidFile(home);
  if (!fs.existsSync(path) || runningInstance(home) !== undefined) return [];
  const pid = readInstance(home)?.pid;
  const what = pid === undefined ? 'says nothing' : `names process ${pid}, which is gone`;
  return warning(
    'Pid file',
    `${shortPath(path, context)} ${what}`,
    '--fix removes it; a start does so, too.',
    () => removeStale(home),
  );
}

/** Returns entries to which others have any permission, except links and sockets. */
function openPaths(home: string): readonly string[] {
  const entries = fs
    .readdirSync(home, { withFileTypes: true, recursive: true })
    .slice(0, MAX_FILES);
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  return [home, ...paths].filter((path) => {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    return stat !== undefined && (stat.mode & 0o077) !== 0;
  });
}
