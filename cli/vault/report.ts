/** The output of the vault's commands: reports, hits, health, as lines and as JSON. */
import { join } from 'node:path';
import type { Calibration } from '../../stages/vault/indexing/calibrate.ts';
import type { IndexReport } from '../../stages/vault/indexing/index-run.ts';
import type { SkipReason } from '../../stages/vault/read/walk.ts';
import type { VaultHealth } from '../../stages/vault/log/health.ts';
import { SAFE } from '../../stages/vault/block.ts';
import { shortPath } from '../context.ts';
import type { CliContext } from '../context.ts';
import { counted, figure } from '../screen/output.ts';
import type { Colors } from '../screen/output.ts';
import { spanOf } from '../screen/progress.ts';
import type { HitView } from './running-proxy.ts';

/** Why files are left out, in words. */
const SKIP_REASONS: Readonly<Record<SkipReason, string>> = {
  ignored: 'ignored (.gitignore and the like)',
  secret: 'secret by name',
  binary: 'binary',
  too_large: 'too large',
  empty: 'empty',
  link: 'links',
  special: 'special files',
  unreadable: 'unreadable',
};

/** Returns name and value pairs about a run. */
export function reportRows(report: IndexReport): (readonly [string, string])[] {
  const { indexed, removed, blocks } = report;
  const rows: (readonly [string, string])[] = [
    [
      'files',
      `${figure(indexed)} read, ${figure(unchangedIn(report))} unchanged, ${figure(removed)} gone`,
    ],
    ['blocks', `${figure(blocks)} from the files that were read`],
    ['left out', skippedText(report)],
    ['time', spanOf(report.durationMs)],
  ];
  return rows;
}

/** Includes very new files that had to be read and turned out to be unchanged. */
function unchangedIn({ files, indexed }: IndexReport): number {
  return Math.max(0, files - indexed);
}

function skippedText({ skipped }: IndexReport): string {
  const parts = entriesOf(skipped).map(
    ([reason, count]) => `${figure(count)} ${SKIP_REASONS[reason]}`,
  );
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

function entriesOf(skipped: IndexReport['skipped']): [SkipReason, number][] {
  const entries = Object.entries(skipped) as [SkipReason, number][];
  return entries.filter(([, count]) => count > 0).toSorted(([, a], [, b]) => b - a);
}

/** Returns a run as JSON. */
export function reportJson(report: IndexReport) {
  return {
    root: report.root,
    files: report.files,
    indexed: report.indexed,
    unchanged: unchangedIn(report),
    removed: report.removed,
    blocks: report.blocks,
    left_out: Object.fromEntries(entriesOf(report.skipped)),
    seconds: report.durationMs / 1000,
    complete: report.complete,
  };
}

/** Returns a hit's location, as `path:10-42`; absolute unless it was added at run time. */
function locationOf(hit: HitView): string {
  const path = hit.root === '' ? hit.sourcePath || hit.id : join(hit.root, hit.sourcePath);
  return hit.startLine > 0 ? `${path}:${hit.startLine}-${hit.endLine}` : path;
}

/** Returns the lines of one hit: location, score, and the snippet with the matches marked. */
export function hitLines(hit: HitView, context: CliContext, colors: Colors): string[] {
  const location = shortPath(locationOf(hit), context);
  const never = hit.riskClass === SAFE ? '' : `  ${colors.yellow(`${hit.riskClass}, never sent`)}`;
  const mark = colors.isWanted
    ? (word: string) => colors.bold(colors.yellow(word))
    : (word: string) => `«${word}»`;
  const lines = marked(hit, mark).trimEnd().split('\n');
  const first = `${colors.cyan(location)}  ${colors.dim(hit.score.toFixed(2))}${never}`;
  return [first, ...lines.map((line) => `    ${line.trimEnd()}`)];
}

function marked({ snippet: { text, hits } }: HitView, mark: (word: string) => string): string {
  let highlighted = '';
  let from = 0;
  for (const [start, end] of hits) {
    highlighted += text.slice(from, start) + mark(text.slice(start, end));
    from = end;
  }
  return highlighted + text.slice(from);
}

/** Returns a hit as JSON. */
export function hitJson(hit: HitView) {
  const { snippet } = hit;
  return {
    block_id: hit.id,
    path: hit.sourcePath,
    root: hit.root,
    start_line: hit.startLine,
    end_line: hit.endLine,
    score: hit.score,
    risk_class: hit.riskClass,
    raw_tokens: hit.rawTokens,
    snippet: { text: snippet.text, line: snippet.line, hits: snippet.hits },
  };
}

/** Returns name and value pairs about a checked index. */
export function healthRows(
  health: VaultHealth,
  context: CliContext,
): (readonly [string, string])[] {
  const roots = health.roots.map((root) => shortPath(root, context));
  const dead = health.logBytes === 0 ? 0 : Math.round((100 * health.deadBytes) / health.logBytes);
  return [
    ['index', shortPath(health.path, context)],
    ['files', figure(health.files)],
    ['folders', roots.length === 0 ? 'none' : roots.join(', ')],
    ['size', `${(health.logBytes / 1e6).toFixed(1)} MB, ${dead} % of it unused`],
    ...(health.indexing ? [['now', 'another process is indexing'] as const] : []),
    ...(health.movedAside.length > 0
      ? [
          [
            'set aside',
            `${counted(health.movedAside.length, 'damaged file')} (may be deleted)`,
          ] as const,
        ]
      : []),
  ];
}

/** Returns a checked index as JSON. */
export function healthJson(health: VaultHealth) {
  return {
    status: health.status,
    reasons: health.reasons,
    path: health.path,
    files: health.files,
    roots: health.roots,
    log_bytes: health.logBytes,
    dead_bytes: health.deadBytes,
    indexing: health.indexing,
    moved_aside: health.movedAside,
  };
}

/** Returns a calibration as JSON. */
export function calibrationJson(calibration: Calibration) {
  return {
    workers: calibration.workers,
    processors: calibration.processors,
    trials: calibration.trials.map(({ workers, filesPerSecond }) => ({
      workers,
      files_per_second: filesPerSecond,
    })),
  };
}
