/**
 * Which algorithms a mode lets loose on which class, in order. In `hybrid`, output of
 * tools counts as narrative for encodings that can be decoded and for logs reduced around
 * their failures; code and configuration files are touched in `aggressive` only.
 */
import type { TextClass } from '../model/classify/classes.ts';
import { dropBlobs } from './blob.ts';
import { stripCode } from './code.ts';
import type { Compressor, Mode } from './compressor.ts';
import { stripConfig } from './config.ts';
import { shrinkDiff } from './diff.ts';
import { dropFrameSource } from './frame-source.ts';
import { packFrames } from './frames.ts';
import { groupGrep } from './grep.ts';
import { nameSameHits } from './grep-same.ts';
import { compressJson } from './json-encode.ts';
import { foldListing } from './listing.ts';
import { cleanLog } from './log-clean.ts';
import { reduceLog } from './log-reduce.ts';
import { extractNarrative } from './narrative.ts';
import { shortenTraces } from './trace.ts';

type Table = Readonly<Record<TextClass, readonly Compressor[]>>;

const HYBRID: Table = {
  narrative: [extractNarrative],
  log: [cleanLog, shortenTraces, reduceLog, packFrames],
  trace: [cleanLog, shortenTraces, dropFrameSource, packFrames],
  json: [compressJson],
  grep: [groupGrep, nameSameHits],
  listing: [foldListing],
  diff: [shrinkDiff],
  code: [],
  config: [],
  html: [],
  blob: [],
  other: [],
};

const AGGRESSIVE: Table = {
  ...HYBRID,
  code: [stripCode],
  config: [stripConfig],
  blob: [dropBlobs],
};

const NOTHING = Object.fromEntries(
  Object.keys(HYBRID).map((kind) => [kind, []]),
) as unknown as Table;

const TABLES: Readonly<Record<Mode, Table>> = {
  strict: NOTHING,
  hybrid: HYBRID,
  aggressive: AGGRESSIVE,
};

/** The algorithms for a class in a mode, in the order they are applied; none where the class is not to be touched. */
export function compressorsFor(mode: Mode, kind: TextClass): readonly Compressor[] {
  return TABLES[mode][kind];
}
