/** `svc benchmark`: the latency that the proxy adds on this machine, in total and per stage. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { JsonCommand } from '../command.ts';
import type { Quantiles } from '../../bench/figures.ts';
import type { BodyLatency } from '../../bench/latency.ts';
import { SvcError } from '../../engine/error.ts';
import { roundedMs } from '../../stages/ledger/figures.ts';
import { toWhole } from '../parse/flags.ts';

const ROUNDS = 5;
const EXPLANATIONS = [
  'Milliseconds until the whole answer has arrived; first: until its first byte has.',
  'Added: the median through svc minus the median without it, in the same round.',
  'forward includes the wait for the provider to begin its answer.',
] as const;

class Benchmark extends JsonCommand {
  static override paths = [['benchmark']];
  static override usage = Command.Usage({
    category: 'Try',
    description: 'Measure what svc adds to requests on this machine',
    details:
      'Each request body goes through a real proxy and directly to a built-in provider, in turn. Proxy, provider and load are processes of their own with temporary folders; nothing leaves this machine. A body is one JSON file; its shape determines the endpoint.',
    examples: [
      ['Measure the built-in set', '$0 benchmark'],
      ['Measure your own request bodies', '$0 benchmark --latency ./bodies'],
      ['One body, stage by stage', '$0 benchmark --file request.json'],
      ['For a script', '$0 benchmark --latency ./bodies --json'],
    ],
  });

  latency = Option.Boolean('--latency', false, {
    description: 'Latency by body, of the folder that follows or of the built-in set; the default',
  });
  file = Option.String('--file', { description: 'Measure this one body stage by stage' });
  requests = Option.String('--requests', '200', {
    description: `Requests each way in each of ${ROUNDS} rounds (default 200)`,
  });
  folder = Option.String({ required: false, name: 'folder' });

  async execute() {
    const requests = toWhole(this.requests, '--requests', 10, 100_000);
    const bodies = await this.bodies();
    const [{ measureLatency }, { createProgress }] = await Promise.all([
      import('../../bench/latency.ts'),
      import('../../bench/progress.ts'),
    ]);
    const progress = createProgress(this.context.stderr);
    const results = await measureLatency(bodies, {
      requests,
      rounds: ROUNDS,
      onProgress: progress.report,
    }).finally(progress.clear);
    if (this.json) this.printJson({ bodies: results.map(toJson) });
    else if (this.file === undefined) this.showAll(results);
    else this.showStages(results[0]!);
    return results.every(({ failed }) => failed === 0) ? 0 : 1;
  }

  private async bodies() {
    const { builtInBodies, readBodies, readBody } = await import('../../bench/bodies.ts');
    const { context, file, folder } = this;
    if (file !== undefined && (this.latency || folder !== undefined))
      throw new SvcError('usage', 'Give either --file or --latency with a folder');
    if (file !== undefined) return [readBody(resolve(context.cwd, file))];
    return folder === undefined ? builtInBodies() : readBodies(resolve(context.cwd, folder));
  }

  private showAll(results: readonly BodyLatency[]): void {
    const header = [
      'body',
      '>size',
      '>without p50',
      '>svc p50',
      '>p95',
      '>p99',
      '>added p50',
      '>added first',
      '>failed',
    ];
    this.printTable(
      header,
      results.map(({ name, bodyBytes, direct, proxied, addedP50, addedFirstP50, failed }) => [
        name,
        `${(bodyBytes / 1024).toFixed(1)} KB`,
        ...[direct.p50, proxied.p50, proxied.p95, proxied.p99, addedP50, addedFirstP50].map(toMs),
        String(failed),
      ]),
    );
    const stages = [
      ...new Set(results.flatMap((result) => result.stages.map(({ stage }) => stage))),
    ];
    this.print();
    this.printTable(
      ['time in stage, p50', ...stages.map((stage) => `>${stage}`)],
      results.map((result) => [
        result.name,
        ...stages.map((stage) => {
          const time = result.stages.find((one) => one.stage === stage);
          return time === undefined ? '–' : toMs(time.p50Ms);
        }),
      ]),
    );
    this.explain();
  }

  private showStages(result: BodyLatency): void {
    const { addedP50, direct, proxied } = result;
    this.print(`${result.name} to ${result.path}, ${(result.bodyBytes / 1024).toFixed(1)} KB`);
    this.print();
    this.printTable(
      ['stage', '>p50', '>p99'],
      [
        ...result.stages.map(({ stage, p50Ms, p99Ms }) => [stage, toMs(p50Ms), toMs(p99Ms)]),
        ['with svc, all', toMs(proxied.p50), toMs(proxied.p99)],
        ['without svc', toMs(direct.p50), toMs(direct.p99)],
        ['added', toMs(addedP50), ''],
      ],
    );
    this.explain();
  }

  private explain(): void {
    const { dim } = this.colors;
    this.print();
    for (const line of EXPLANATIONS) this.print(dim(line));
  }
}

function toMs(ms: number): string {
  return ms.toFixed(2);
}

/** Converts to the naming of the other results. */
function toJson(result: BodyLatency) {
  const { direct, proxied } = result;
  const rounded = ({ p50, p95, p99 }: Quantiles) => ({
    p50: roundedMs(p50),
    p95: roundedMs(p95),
    p99: roundedMs(p99),
  });
  return {
    name: result.name,
    path: result.path,
    body_bytes: result.bodyBytes,
    requests: result.requests,
    failed: result.failed,
    direct_ms: rounded(direct),
    proxied_ms: rounded(proxied),
    added_p50_ms: roundedMs(result.addedP50),
    added_first_p50_ms: roundedMs(result.addedFirstP50),
    stages: result.stages.map(({ stage, p50Ms, p99Ms }) => ({
      name: stage,
      p50_ms: roundedMs(p50Ms),
      p99_ms: roundedMs(p99Ms),
    })),
  };
}

export const commands = [Benchmark];
