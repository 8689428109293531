/** What saves, each in its own lane as `/savings` has them: nothing is in two of them. */
import type { LiveState, ReportAnswer } from '../contract.ts';
import { bytes, dollars, percent, short, whole } from './format.ts';

interface LanesProps {
  readonly live: LiveState;
  readonly report: ReportAnswer;
}

export function CacheLanes({ live: { caches }, report: { lanes, totals } }: LanesProps) {
  const { response_cache: answers } = caches;
  const {
    compression,
    cache_breakpoints: marked,
    response_cache: kept,
    provider_cache: own,
  } = lanes;
  const input = totals.input_tokens;
  const partOf = (tokens: number): number => (input === 0 ? 0 : tokens / input);
  return (
    <section class="card">
      <h2>What spared tokens</h2>
      <dl class="lanes">
        <Lane
          color="mark"
          title="Our compression"
          value={dollars(compression.cost_saved_usd)}
          part={partOf(compression.tokens_saved)}
          words={`${short(compression.tokens_saved)} tokens not sent, ${percent(totals.saved_percent)} of input`}
        />
        <Lane
          color="blue"
          title="Cache breakpoints that svc set"
          value={dollars(marked.cost_saved_usd)}
          part={partOf(marked.read_tokens)}
          words={
            marked.requests === 0
              ? 'none set'
              : `${short(marked.read_tokens)} tokens read, ${short(marked.written_tokens)} written in ${whole(marked.requests)} requests`
          }
        />
        <Lane
          color="orange"
          title="Our response cache"
          value={dollars(kept.cost_saved_usd)}
          part={totals.requests === 0 ? 0 : kept.requests / totals.requests}
          words={`${whole(kept.requests)} answers given again${
            answers === null
              ? '; it is off'
              : `; holds ${whole(answers.entries)} (${bytes(answers.bytes)})`
          }`}
        />
        <Lane
          color="violet"
          title="The provider’s own cache"
          value={short(own.read_tokens)}
          part={partOf(own.read_tokens)}
          words={`tokens read, ${short(own.written_tokens)} written; not our saving`}
        />
      </dl>
    </section>
  );
}

interface LaneProps {
  readonly color: string;
  readonly title: string;
  readonly value: string;
  /** Of the bar, 0 to 1. */
  readonly part: number;
  readonly words: string;
}

function Lane({ color, title, value, part, words }: LaneProps) {
  return (
    <div class="lane">
      <dt>{title}</dt>
      <dd>
        <b>{value}</b> <span class="quiet">{words}</span>
        <div class="bar" aria-hidden="true">
          <i class={color} style={{ width: `${Math.min(100, 100 * part)}%` }} />
        </div>
      </dd>
    </div>
  );
}
