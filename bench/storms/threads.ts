/** Uses up the memory of a thread: of one that compresses, with texts that are all different. */
import { exchange, json, MESSAGE } from '../../fixtures/server/exchange.ts';
import { tokensOf } from '../saved-tokens.ts';
import { resultsOf } from '../tool-results.ts';
import { withSite } from './site.ts';
import type { Svc } from './site.ts';
import { becomesTrue } from './storm.ts';
import type { Storm } from './storm.ts';
import { startTraffic } from './traffic.ts';

/** Heap of the main thread, and of each other one. */
const HEAP_MB = 100;
/** So many different short lines that an index of them takes more than the heap. */
const LINES = 900_000;
const LARGE_REQUESTS = 4;

/** Sends a conversation with one tool result; returns its status and why it was not compressed. */
async function sendResult(svc: Svc, name: string, text: string): Promise<string> {
  const input = { command: 'cat app.log' };
  const messages = [
    { role: 'user', content: 'What does it print?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: name, name: 'Bash', input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: name, content: text }] },
  ];
  const body = json(MESSAGE, { messages });
  const { status, headers } = await exchange(svc.port, { body });
  const trace = await exchange(svc.port, {
    method: 'GET',
    path: `/trace/${String(headers['x-svc-request-id'])}`,
  });
  const [, because = 'compressed'] = /"not_compressed_because":"(\w+)"/.exec(trace.text) ?? [];
  return `${status} ${because}`;
}

const linesOf = (round: number): string =>
  Array.from({ length: LINES }, (_, n) => `${round}:${(n * 7919) % 1_000_003}`).join('\n');

const threadMemory: Storm['run'] = (_, report) =>
  withSite(
    async ({ start }) => {
      const svc = await start({ env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } });
      const traffic = startTraffic([svc.port], 2);
      const outcomes: string[] = [];
      for (let round = 0; round < LARGE_REQUESTS; round += 1) {
        outcomes.push(await sendResult(svc, `large${round}`, linesOf(round)));
        report(`${round + 1} of ${LARGE_REQUESTS} large requests`);
      }
      const [, text = ''] = resultsOf(400, 'after')[0] ?? [];
      let tries = 0;
      const compressesAgain = await becomesTrue(async () => {
        const { saved } = await tokensOf(svc.port);
        await sendResult(svc, `after${tries}`, `${tries} ${text}`);
        tries += 1;
        return (await tokensOf(svc.port)).saved > saved;
      });
      await traffic.stop();
      const { status } = await svc.health();
      const failed = [...traffic.failed].map(([what, count]) => `${count} ${what}`).join(', ');
      return [
        {
          name: 'memory of a thread used up',
          required:
            'the request is sent unchanged, others are answered meanwhile, and a new thread compresses',
          figure: `${LARGE_REQUESTS} requests of ${LINES} different lines with a heap of ${HEAP_MB} MB: ${outcomes.join(', ')}; ${traffic.ended.size} others answered, ${failed || 'none failed'}; compresses again: ${compressesAgain}, /health ${status}`,
          met:
            outcomes.every((outcome) => outcome === '200 broken') &&
            traffic.failed.size === 0 &&
            compressesAgain &&
            svc.child.exitCode === null,
        },
      ];
    },
    { more: '' },
  );

export const THREADS: readonly Storm[] = [{ name: 'thread-memory', run: threadMemory }];
