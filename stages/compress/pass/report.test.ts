import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JobOutcome } from '../worker/job.ts';
import { createProblemNotes } from './report.ts';

const outcome = (index: number, more: Partial<JobOutcome>): JobOutcome => ({
  index,
  text: undefined,
  changed: false,
  by: [],
  tokensBefore: 1,
  tokensAfter: 1,
  removed: [],
  repeatedLines: 0,
  isTried: true,
  ...more,
});

test('notes undecided blocks on every request, but logs them once', () => {
  const warnings: unknown[] = [];
  const noteProblem = createProblemNotes({
    warning: (message, fields) => void warnings.push([message, fields]),
  });
  const noted = (...outcomes: JobOutcome[]): unknown => {
    const notes = new Map<string, unknown>();
    noteProblem({ outcomes }, { note: (name, value) => void notes.set(name, value) });
    return Object.fromEntries(notes);
  };
  const because = 'the grammar for python cannot be loaded: no such file';
  for (const turn of [1, 2])
    assert.equal(
      noted(
        outcome(0, { undecided: because }),
        outcome(1, { undecided: because }),
        outcome(2, { failed: ['json'] }),
      ),
      { algorithms_failed: ['json'], undecided_because: [because] },
      `turn ${turn}`,
    );
  assert.equal(noted(outcome(0, {})), {});
  assert.equal(warnings, [['source code is sent unchanged', { because }]]);
});

test.run();
