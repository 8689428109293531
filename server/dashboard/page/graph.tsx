/** The compiled graph: what a request passes, and the segments of each answer's way. */
import type { GraphJson } from '../contract.ts';
import { useFetched } from './fetched.ts';
import { Fault } from './words.tsx';

type Stop = GraphJson['request'][number];
type Way = GraphJson['answers'][number];
type Inner = Stop['within'][number];

export function GraphView() {
  const { value, error } = useFetched<GraphJson>('graph', () => '/graph');
  return (
    <div class="page">
      <h1>Graph</h1>
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
                  <Node node={stop} remarks={remarksOf(stop)} />
                  {stop.within.length > 0 && (
                    <ul>
                      {stop.within.map((inner) => (
                        <li key={inner.node}>
                          <Node node={inner} remarks={inner.about} />
                        </li>
                      ))}
                    </ul>
                  )}
                </li>
              ))}
            </ol>
          </section>
          {value.answers.map((way) => (
            <AnswerWay key={way.from} way={way} />
          ))}
        </>
      )}
    </div>
  );
}

function AnswerWay({ way: { from, segments } }: { readonly way: Way }) {
  const id = `graph-${from}`;
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>Answer of {from}</h2>
        <span class="quiet">each line is one web stream</span>
      </header>
      <ol class="graph">
        {segments.map(({ form, nodes }) => (
          <li key={nodes.map(({ node }) => node).join()}>
            <span class="quiet">{form === 'fused' ? 'fused segment' : 'web stream'}</span>{' '}
            {nodes
              .map(({ node, plugin }) => (plugin === null ? node : `${node} (plugin ${plugin})`))
              .join(' → ')}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface NodeProps {
  readonly node: Inner;
  readonly remarks: readonly string[];
}

function Node({ node: { node, plugin }, remarks }: NodeProps) {
  return (
    <>
      <strong>{node}</strong>{' '}
      <span class="quiet">
        {[...(plugin === null ? [] : [`plugin ${plugin}`]), ...remarks].join(', ')}
      </span>
    </>
  );
}

function remarksOf({ about, answers, web_stream: isStream }: Stop): readonly string[] {
  return [...about, ...(answers ? ['may answer'] : []), ...(isStream ? ['web stream'] : [])];
}
