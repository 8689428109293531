/**
 * Strips configuration files: comment lines and runs of blank lines are dropped, every key and
 * value stays as written. Each format has a reader; the text is read before and after and must
 * configure the same. A text that no reader accepts stays unchanged.
 */
import { isDeepStrictEqual } from 'node:util';
import { isInstruction, isDirective, isReasonToKeep } from '../code/comment-directives.ts';
import { asksForComments, namedLines, type QueryContext } from '../named-lines.ts';
import type { Apply, Compressed } from '../rule.ts';
import {
  readAssignments,
  readDockerfile,
  readEnv,
  readIni,
  readPatterns,
  readProperties,
  readSections,
} from './lines.ts';
import type { ConfigReader } from './reading.ts';
import { readToml } from './toml.ts';
import { readYaml } from './yaml.ts';
import { MARK } from '../../text/marker.ts';

const READERS: Readonly<Record<string, readonly ConfigReader[]>> = {
  yaml: [readYaml],
  yml: [readYaml],
  toml: [readToml],
  ini: [readIni],
  cfg: [readSections],
  conf: [readSections],
  editorconfig: [readIni],
  npmrc: [readIni],
  properties: [readProperties],
  env: [readEnv],
  gitignore: [readPatterns],
};
/** For a file of unknown format: the first reader that accepts all of the text is used. */
const READERS_TO_TRY: readonly ConfigReader[] = [
  readYaml,
  readToml,
  readSections,
  readDockerfile,
  readAssignments,
];
/** A comment whose form makes it an instruction: `#!`, `#:schema`, `# syntax=`, `# check=`. */
const INSTRUCTION = /^\s*#(?:[!:%$]|\s*(?:syntax|check)\s*=|\s*@)/;

/** Strips comment lines of YAML, TOML, INI, .env, properties, ignore lists and Dockerfiles. */
export const stripConfig: Apply = (text, context) => {
  const { classification } = context;
  if (asksForComments(context)) return undefined;
  const readers = READERS[classification.extension ?? ''] ?? READERS_TO_TRY;
  for (const read of readers) {
    const reading = read(text);
    if (reading !== undefined) return strip(text, read, reading, context);
  }
  return undefined;
};

function strip(
  text: string,
  read: ConfigReader,
  { comments, blanks, values }: NonNullable<ReturnType<ConfigReader>>,
  asking: QueryContext,
): Compressed | undefined {
  const lines = text.split('\n');
  const named = new Set(
    namedLines(
      lines.map((line, at) => (comments.has(at) ? line : '')),
      asking,
    ),
  );
  const noComments = lines.map(
    (line, at) =>
      !comments.has(at) ||
      named.has(at) ||
      isDirective(line) ||
      isInstruction([line]) ||
      isReasonToKeep(line) ||
      INSTRUCTION.test(line),
  );
  // Blank lines may be content that the reader cannot judge: the second attempt keeps all of them.
  for (const keep of [withoutBlankRuns(lines, noComments, blanks), noComments]) {
    const kept = lines.filter((_, at) => keep[at]);
    if (lines.length - kept.length < 2) return undefined;
    if (!isDeepStrictEqual(read(kept.join('\n'))?.values, values)) continue;
    const note = `# ${MARK}omitted ${lines.length - kept.length} of ${lines.length} lines, comments and blank lines only; the source is complete]`;
    const removed = lines.flatMap((_, at) => (keep[at] === true ? [] : [{ from: at, to: at + 1 }]));
    return { text: [note, ...kept].join('\n'), removed };
  }
  return undefined;
}

function withoutBlankRuns(
  lines: readonly string[],
  keep: readonly boolean[],
  blanks: ReadonlySet<number>,
): readonly boolean[] {
  let blank = true;
  return lines.map((_, at) => {
    if (keep[at] !== true) return false;
    const again = blank && blanks.has(at);
    blank = blanks.has(at);
    return !again;
  });
}
