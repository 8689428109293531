/**
 * Reads configuration with third-party parsers, or with a minimal reader if there is none, so that
 * two texts can be compared without the code that made one from the other.
 */
import { isDeepStrictEqual } from 'node:util';
import { parse as parseToml } from 'smol-toml';
import { parseAllDocuments } from 'yaml';

/** Returns the configuration; undefined if the text is not of the format. */
type Reader = (text: string) => unknown;

export type ConfigFormat = 'toml' | 'yaml' | 'ini';

const READERS: Readonly<Record<ConfigFormat, Reader>> = { toml, yaml, ini };

/** Whether two texts configure the same, and the formats that were compared. */
export interface ConfigVerdict {
  /** Formats of the first text; empty if no reader accepts it. */
  readonly formats: readonly ConfigFormat[];
  /** Differences in the second text, by format; empty if there are none. */
  readonly faults: readonly string[];
}

/** Compares both texts in every format of the first one; without any, compares all but comments. */
export function compareConfig(before: string, after: string): ConfigVerdict {
  const formats: ConfigFormat[] = [];
  const faults: string[] = [];
  for (const [format, read] of Object.entries(READERS) as [ConfigFormat, Reader][]) {
    const values = read(before);
    if (values === undefined) continue;
    formats.push(format);
    if (before !== after && !isDeepStrictEqual(values, read(after)))
      faults.push(`read as ${format} it says otherwise`);
  }
  if (formats.length === 0 && !isDeepStrictEqual(written(before), written(after)))
    faults.push('a line that is not a remark differs');
  return { formats, faults };
}

const written = (text: string): readonly string[] =>
  text.split('\n').filter((line) => !/^\s*(?:[#;!]|$)/.test(line));

function toml(text: string): unknown {
  try {
    return parseToml(text, { integersAsBigInt: 'asNeeded' });
  } catch {
    return undefined;
  }
}

/** Almost any text is a valid YAML string, which says nothing about its configuration. */
function yaml(text: string): unknown {
  try {
    const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: 'silent' });
    if (!Array.isArray(documents) || documents.some(({ errors }) => errors.length > 0))
      return undefined;
    const values = documents.map((document) => document.toJS() as unknown);
    return values.some((value) => typeof value === 'object' && value !== null) ? values : undefined;
  } catch {
    return undefined;
  }
}

const SECTION = /^\[([^\]]+)\]\s*(?:[#;].*)?$/;
const ENTRY = /^([^\s=:[#;][^=:]*)[=:](.*)$/;

/** Parses sections, entries and continuation lines, like `configparser` and systemd. */
function ini(text: string): unknown {
  const sections: Record<string, [string, string[]][]> = {};
  let entries: [string, string[]][] | undefined;
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd();
    const section = SECTION.exec(line)?.[1];
    const entry = ENTRY.exec(line);
    const last = entries?.at(-1);
    if (line === '' || /^[#;]/.test(line)) continue;
    if (section !== undefined) entries = sections[section] ??= [];
    else if (entry !== null && entries !== undefined)
      entries.push([entry[1]!.trim(), [entry[2]!.trim()]]);
    else if (/^\s/.test(line) && last !== undefined) last[1].push(line.trim());
    else return undefined;
  }
  return entries === undefined ? undefined : sections;
}
