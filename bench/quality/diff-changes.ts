/**
 * Extracts the changes of a diff, hunk by hunk according to its headers; also for compressed diffs.
 */

/** Returns the + and − lines of source, in order; for a generated file only their number. */
export function changesIn(diff: string): readonly string[] {
  const lines = diff.split('\n');
  const changes: string[] = [];
  let isGenerated = false;
  let counts = { hunks: 0, added: 0, removed: 0 };
  const endFile = (): void => {
    if (isGenerated && counts.hunks > 0) changes.push(JSON.stringify(counts));
    counts = { hunks: 0, added: 0, removed: 0 };
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const path = FILE.exec(line)?.[1];
    const left = COUNTED.exec(line);
    if (left !== null) {
      const [hunks, added, removed] = left.slice(1).map(Number);
      changes.push(JSON.stringify({ hunks, added, removed }));
    } else if (path !== undefined) {
      endFile();
      isGenerated = GENERATED.test(path);
    }
    const hunk = HUNK.exec(line);
    const isWhole = WHOLE.test(line) && !HUNK.test(lines[at + 1] ?? '');
    if (hunk === null && !isWhole) continue;
    const found = isWhole
      ? signedLines(lines, at + 1)
      : hunkChanges(lines, at + 1, Number(hunk?.[1] ?? 1), Number(hunk?.[2] ?? 1));
    at = found.end - 1;
    counts.hunks += 1;
    counts.added += found.changes.filter((change) => change.startsWith('+')).length;
    counts.removed += found.changes.filter((change) => change.startsWith('-')).length;
    if (!isGenerated) changes.push(...found.changes);
  }
  endFile();
  return changes;
}

const FILE = /^(?:diff --git a\/.* b\/|\*\*\* )(.+?)(?: \((?:new|deleted) file mode \d+\))?$/;
/** A file that is added or deleted is a single hunk, whose header adds no information. */
const WHOLE = /^\*\*\* .+ \((?:new|deleted) file mode \d+\)$/;
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const COUNTED =
  /^\[svc generated file: (\d+) hunks with (\d+) added and (\d+) removed lines left out; /;
/** Generated files: locks, minified code, source maps, snapshots. */
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|[A-Z]\w+\.lock|[a-z]+\.lock|go\.sum)$|\.min\.(?:js|css)$|\.(?:js|css)\.map$|\.snap$/;

interface HunkChanges {
  readonly changes: readonly string[];
  /** Number of the line after the hunk. */
  readonly end: number;
}

function signedLines(lines: readonly string[], from: number): HunkChanges {
  let end = from;
  while (/^[-+\\]/.test(lines[end] ?? '')) end += 1;
  return { changes: lines.slice(from, end).filter((line) => !line.startsWith('\\')), end };
}

function hunkChanges(
  lines: readonly string[],
  from: number,
  old: number,
  fresh: number,
): HunkChanges {
  const changes: string[] = [];
  let [oldLeft, freshLeft] = [old, fresh];
  let end = from;
  for (; end < lines.length && (oldLeft > 0 || freshLeft > 0); end += 1) {
    const line = lines[end]!;
    const sign = line[0];
    if (sign === '\\') continue;
    if (sign === '+' || sign === '-') changes.push(line);
    if (sign !== '+') oldLeft -= 1;
    if (sign !== '-') freshLeft -= 1;
  }
  return { changes, end };
}
