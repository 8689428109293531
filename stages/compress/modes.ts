/**
 * Which algorithms a mode lets loose on which class, in order. In `hybrid`, output of
 * tools counts as narrative for encodings that can be decoded and for logs reduced around
 * their failures; code and configuration files are touched in `aggressive` only.
 */
import type { TextClass } from '../model/classify/classes.ts';
import { dropBlobs } from './blob/drop-blobs.ts';
import { stripCode } from './code/strip-code.ts';
import type { Compressor, Mode } from './compressor.ts';
import { stripConfig } from './config/strip-config.ts';
import { shrinkDiff } from './diff/shrink-diff.ts';
import { dropFrameSource } from './trace/frame-source.ts';
import { packFrames } from './trace/pack-frames.ts';
import { groupGrep } from './grep/group-grep.ts';
import { nameSameHits } from './grep/same-hits.ts';
import { compressJson } from './json/encode.ts';
import { foldListing } from './listing/fold-listing.ts';
import { cleanLog } from './log/clean.ts';
import { reduceLog } from './log/reduce.ts';
import { extractNarrative } from './narrative/extract.ts';
import { shortenTraces } from './trace/shorten-traces.ts';

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
