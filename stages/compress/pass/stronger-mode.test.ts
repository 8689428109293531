/**
 * A stronger mode never saves less, however long a conversation is and whatever is read again in
 * it, except for a text read twice in a row, which is sent with everything that was left out of it.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createRandom, randomInt, type Random } from '../../../fixtures/random.ts';
import { createConversationCompressor } from '../worker/conversation-compressor.ts';
import type { ConversationBlock } from './blocks.ts';

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const remarks = (sign: string, n: number): string =>
  n % 4 === 0
    ? `${sign} What part ${n} does.\n${sign} A second remark about it, number ${n}.\n`
    : '';

interface Source {
  readonly text: string;
  readonly tool: string;
  readonly input: (name: string) => object;
  readonly isNumbered?: true;
}

const cat = (ending: string) => (name: string) => ({ command: `cat src/${name}.${ending}` });
const read = (ending: string) => (name: string) => ({ file_path: `/p/${name}.${ending}` });
const TS = lines(
  50,
  (n) => `${remarks('//', n)}function part${n}(value) {\n  return value * ${n * 31};\n}\n`,
);
const PY = lines(
  50,
  (n) => `${remarks('#', n)}def part_${n}(value):\n    return value * ${n * 31}\n`,
);
const YAML = lines(
  40,
  (n) => `${remarks('#', n)}service_${n}:\n  image: registry/app-${n}:1.${n}\n  port: ${8000 + n}`,
);
const RECORDS = Array.from({ length: 50 }, (_, id) => ({
  id,
  name: `item ${id * 7919}`,
  list: [id, 1],
}));
const JSON_TEXT = JSON.stringify(RECORDS, null, 2);
const LOG = lines(
  90,
  (n) => `10:00:${n % 60} INFO job ${(n * 7919) % 100_003} done in ${n * 31} ms`,
);

const SOURCES: readonly Source[] = [
  { text: TS, tool: 'Read', input: read('ts'), isNumbered: true },
  { text: TS, tool: 'Bash', input: cat('ts') },
  { text: PY, tool: 'Bash', input: cat('py') },
  { text: YAML, tool: 'Bash', input: cat('yaml') },
  { text: YAML, tool: 'read', input: read('yaml') },
  { text: JSON_TEXT, tool: 'read', input: read('json') },
  { text: JSON_TEXT, tool: 'Read', input: read('json'), isNumbered: true },
  { text: JSON.stringify(RECORDS), tool: 'read', input: read('json') },
  { text: JSON_TEXT, tool: 'Bash', input: () => ({ command: 'curl -s localhost/items' }) },
  { text: LOG, tool: 'Bash', input: () => ({ command: 'docker logs api' }) },
];

function numbered(text: string, from: number): string {
  return text
    .split('\n')
    .map((line, at) => `${String(from + at + 1).padStart(6)}\t${line}`)
    .join('\n');
}

/**
 * Returns a session that reads, edits and rereads files, in full and in part, never identically
 * twice in a row.
 */
function session(random: Random, sources: readonly Source[], turns: number): ConversationBlock[] {
  const files = sources.map(({ text, ...rest }) => ({ ...rest, lines: text.split('\n') }));
  let before = '';
  return Array.from({ length: turns }, (_, index) => {
    const at = randomInt(random, 0, files.length);
    const file = files[at]!;
    const edited = randomInt(random, 0, file.lines.length);
    if (randomInt(random, 0, 3) > 0)
      file.lines[edited] = file.lines[edited]!.replace(/\d+/, `9${index}`);
    const isPart = randomInt(random, 0, 3) === 0 && file.lines.length > 60;
    const from = isPart ? randomInt(random, 0, file.lines.length - 50) : 0;
    const seen = file.lines.slice(from, isPart ? from + 50 : undefined);
    const text = seen.join('\n') === before ? [...seen, `${index}`].join('\n') : seen.join('\n');
    before = text;
    return {
      index,
      role: 'tool',
      kind: 'tool_result',
      text: file.isNumbered === true ? numbered(text, from) : text,
      toolName: file.tool,
      toolInput: file.input(`file-${at}`),
    };
  });
}

async function sizes(blocks: readonly ConversationBlock[], mode: 'hybrid' | 'aggressive') {
  const options = { mode, maxChars: 120, thresholdTokens: 0, logBudgetTokens: 3500 };
  const outcomes = await createConversationCompressor(0).compress({ blocks, options });
  return outcomes.map(({ tokensAfter }) => tokensAfter);
}

async function compare(name: string, blocks: readonly ConversationBlock[]): Promise<void> {
  const [hybrid, aggressive] = [await sizes(blocks, 'hybrid'), await sizes(blocks, 'aggressive')];
  let [less, more] = [0, 0];
  for (const [at, size] of hybrid.entries()) {
    less += aggressive[at]!;
    more += size;
    assert.ok(less <= more, `${name}, result ${at + 1}: ${less} and ${more} tokens`);
  }
}

for (const [at, source] of SOURCES.entries())
  test(`saves at least as much in the stronger mode for a file that is read repeatedly, ${at}: ${source.tool}`, () =>
    compare(String(at), session(createRandom(at + 1), [source], 25)));

test('saves at least as much in the stronger mode in long sessions with many files', async () => {
  for (const seed of [1, 2, 3])
    await compare(`seed ${seed}`, session(createRandom(seed), SOURCES, 60));
});

test.run();
