/**
 * Configuration read by parsers of others' making, or by the plainest reader where there is
 * none, so that two texts can be judged to configure the same without the code that made one
 * of them from the other.
 */
import { isDeepStrictEqual } from 'node:util';
import { parse as parseToml } from 'smol-toml';
import { parseAllDocuments } from 'yaml';

/** What a text configures; undefined where it is not of the format. */
type Reader = (text: string) => unknown;

export type ConfigFormat = 'toml' | 'yaml' | 'ini';

const READERS: Readonly<Record<ConfigFormat, Reader>> = { toml, yaml, ini };

/** Whether two texts configure the same, and by which formats that was found. */
export interface ConfigVerdict {
  /** Formats that the first text is of; empty where no reader knows it. */
  readonly formats: readonly ConfigFormat[];
  /** What the second text says otherwise, by format; empty where it says the same. */
  readonly faults: readonly string[];
}

/** Reads both texts in every format that the first one is of; where that is none, compares what is no remark. */
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
    faults.push('a line that is no remark differs');
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

/** Almost any text is a YAML string; that says nothing of what it configures. */
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

/** Sections, entries and lines that go on with the entry above, as `configparser` and systemd read them. */
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
