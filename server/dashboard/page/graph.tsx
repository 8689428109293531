/**
 * The compiled graph: the nodes a request passes, the segments of each response path, and the time
 * per stage.
 */
import type { GraphJson, StagesJson } from '../contract.ts';
import { useFetched } from './fetched.ts';
import { NONE, duration, share, wholeNumber } from './format.ts';
import { Fault } from './message-text.tsx';

type PathNode = GraphJson['request'][number];
type ResponsePath = GraphJson['answers'][number];
type InnerNode = PathNode['within'][number];

/** This stage waits for the provider, which does not count as svc's own time. */
const FORWARD = 'forward';

interface StageWork {
  readonly requests: number;
  /** Per request, in milliseconds. */
  readonly meanMs: number;
  /** Share of svc's own time, 0 to 1; null for `forward` and the stages inside others. */
  readonly part: number | null;
}

type WorkOf = (node: string) => StageWork | undefined;

export function GraphView() {
  const { value, error } = useFetched<GraphJson>('graph', () => '/graph');
  const { value: live } = useFetched<StagesJson>('stages', () => '/dashboard/api/stages');
  const workOf = workByNode(live);
  return (
    <div class="page">
      <h1>Graph</h1>
      <p class="quiet">{rateWords(live)}</p>
      <Fault text={error} />
      {value !== undefined && (
        <>
          <section class="card" aria-labelledby="graph-request">
            <header>
              <h2 id="graph-request">Request</h2>
              <span class="quiet">from top to bottom, until a stage answers</span>
            </header>
            <ol class="graph">
              {value.request.map((stop) => (
                <li key={stop.node}>
                  <Node node={stop} remarks={remarksFor(stop)} workOf={workOf} />
                  {stop.within.length > 0 && (
                    <ul>
                      {stop.within.map((inner) => (
                        <li key={inner.node}>
                          <Node node={inner} remarks={inner.about} workOf={workOf} />
                        </li>
                      ))}
                    </ul>
                  )}
                </li>
              ))}
            </ol>
          </section>
          {value.answers.map((way) => (
            <ResponsePathView key={way.from} way={way} workOf={workOf} />
          ))}
        </>
      )}
    </div>
  );
}

function rateWords(live: StagesJson | undefined): string {
  if (live === undefined) return 'Loading…';
  if (live.requests === 0) return 'No request has passed it yet.';
  const perMinute = live.requests_per_second * 60;
  const rate = perMinute < 10 ? perMinute.toFixed(1) : wholeNumber(perMinute);
  return `${rate} requests a minute; times are means of the newest ${wholeNumber(live.requests)}, shares are of svc’s own time.`;
}

function workByNode(live: StagesJson | undefined): WorkOf {
  const stages = live?.stages ?? [];
  const isOwn = ({ node, within }: StagesJson['stages'][number]): boolean =>
    node !== FORWARD && within === null;
  const ownMs = stages.filter(isOwn).reduce((sum, { busy_ms: busyMs }) => sum + busyMs, 0);
  const measuredWork = new Map(
    stages.map((stage) => [
      stage.node,
      {
        requests: stage.requests,
        meanMs: stage.requests === 0 ? 0 : stage.busy_ms / stage.requests,
        part: isOwn(stage) && ownMs > 0 ? stage.busy_ms / ownMs : null,
      },
    ]),
  );
  return (node) => measuredWork.get(node);
}

interface WayProps {
  readonly way: ResponsePath;
  readonly workOf: WorkOf;
}

function ResponsePathView({ way: { from, segments }, workOf }: WayProps) {
  const id = `graph-${from}`;
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>Answer of {from}</h2>
        <span class="quiet">each box is one web stream</span>
      </header>
      <ol class="graph">
        {segments.map(({ form, nodes }) => (
          <li key={nodes.map(({ node }) => node).join()}>
            <span class="quiet">{form === 'fused' ? 'fused segment' : 'web stream'}</span>
            <ul>
              {nodes.map(({ node, plugin }) => (
                <li key={node}>
                  <Node node={{ node, plugin }} remarks={[]} workOf={workOf} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface NodeProps {
  readonly node: Pick<InnerNode, 'node' | 'plugin'>;
  readonly remarks: readonly string[];
  readonly workOf: WorkOf;
}

function Node({ node: { node, plugin }, remarks, workOf }: NodeProps) {
  const work = workOf(node);
  return (
    <div class="node" data-node={node}>
      <span class="what">
        <strong>{node}</strong>{' '}
        <span class="quiet">
          {[...(plugin === null ? [] : [`plugin ${plugin}`]), ...remarks].join(', ')}
        </span>
      </span>
      <span class="num quiet">{work === undefined ? '' : `${wholeNumber(work.requests)} ×`}</span>
      <span class="num">{work === undefined ? NONE : duration(work.meanMs)}</span>
      <span class="num share">{shareWords(node, work)}</span>
      {work !== undefined && work.part !== null && (
        <span class="bar" aria-hidden="true">
          <i style={{ width: `${100 * work.part}%` }} />
        </span>
      )}
    </div>
  );
}

function shareWords(node: string, work: StageWork | undefined): string {
  if (node === FORWARD) return 'provider';
  return work === undefined || work.part === null ? '' : share(work.part);
}

function remarksFor({ about, answers, web_stream: isStream }: PathNode): readonly string[] {
  return [...about, ...(answers ? ['may answer'] : []), ...(isStream ? ['web stream'] : [])];
}
