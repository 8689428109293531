/** The three things that save, each in its own lane: they are never added up. */
import type { LiveState, ReportAnswer } from '../contract.ts';
import { bytes, dollars, percent, share, short, whole } from './format.ts';

interface LanesProps {
  readonly live: LiveState;
  readonly report: ReportAnswer;
}

export function CacheLanes({ live: { caches }, report: { lanes, totals } }: LanesProps) {
  const { response_cache: answers } = caches;
  const { compression, prompt_cache: prompt, response_cache: kept } = lanes;
  return (
    <section class="card">
      <h2>What spared tokens</h2>
      <dl class="lanes">
        <Lane
          color="mark"
          title="Our compression"
          value={short(compression.saved_tokens)}
          part={(compression.saved_percent ?? 0) / 100}
          words={`tokens not sent, ${percent(compression.saved_percent)} of input, ${dollars(compression.cost_saved)}`}
        />
        <Lane
          color="violet"
          title="The provider’s prompt cache"
          value={short(prompt.read_tokens)}
          part={prompt.hit_ratio ?? 0}
          words={`tokens read, ${share(prompt.hit_ratio)} of what could be; theirs, not our saving`}
        />
        <Lane
          color="orange"
          title="Our response cache"
          value={answers === null && kept.hits === 0 ? 'off' : short(kept.hits)}
          part={totals.requests === 0 ? 0 : kept.hits / totals.requests}
          words={
            answers === null
              ? 'cache.enabled turns it on'
              : `answers given again, ${dollars(kept.cost_saved)}; it holds ${whole(answers.entries)} (${bytes(answers.bytes)})`
          }
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
