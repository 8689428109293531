/** The results of the quality measures. */
import type { MarkedSummary } from './breakpoints.ts';
import type { ClassAccuracy } from './classes.ts';
import type { EncodingResult } from './encodings.ts';
import type { FirstSight } from './first-sight.ts';
import type { ForgettingSummary } from './forgetting.ts';
import type { LogResult } from './logs.ts';
import type { NarrativeResult } from './narrative.ts';
import type { RecipeFigures } from './recipes.ts';
import type { SpeedResult } from './speed.ts';
import type { SourceSummary, TranscriptResult } from './transcripts.ts';

/** All measurements; parts that need a corpus are empty without one. */
export interface QualityReport {
  readonly corpus: boolean;
  readonly classes: readonly ClassAccuracy[];
  readonly encodings: readonly EncodingResult[];
  readonly logs: readonly LogResult[];
  readonly narrative: readonly NarrativeResult[];
  readonly transcripts: readonly TranscriptResult[];
  readonly sources: readonly SourceSummary[];
  readonly marked: readonly MarkedSummary[];
  readonly forgetting: ForgettingSummary | undefined;
  readonly keptLines: KeptLines | undefined;
  readonly recipes: RecipeFigures | undefined;
  readonly speed: SpeedResult;
  readonly firstSight: readonly FirstSight[];
}

/** Changed lines of all transcripts, and how many of them are not in the input. */
export interface KeptLines {
  readonly kept: number;
  readonly strange: number;
}
