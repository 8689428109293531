import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { posted } from '../../fixtures/compress/stage.ts';
import { dialects } from '../dialect/registry.ts';
import { sharedBy } from '../model/block-history.ts';
import { appendText, replaceTexts, setParam, toRequest } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { createRepeatedBodies } from '../parse/repeated-bodies.ts';
import { measureJson } from './json-size.ts';
import { render } from './render.ts';
import { writtenTexts } from './text-edits.ts';

const TEXT = 'The build of module {7} failed: "a\\b" ü 漢. '.repeat(300);

/** `branch`: from this turn on the client says something else. */
const bodyOf = (turns: number, first = 'Why?', branch = turns): string =>
  JSON.stringify({
    model: 'm',
    max_tokens: 10,
    messages: [
      { role: 'user', content: first },
      ...Array.from({ length: turns }, (_, n) => [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `t${n}`, name: 'Bash', input: {} }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: `t${n}`, content: `${n} ${TEXT}` },
            { type: 'text', text: `${n < branch ? 'Question' : 'Another question'} ${n}` },
          ],
        },
      ]).flat(),
    ],
    system: 'Be brief.',
  });

/** Parses requests as the stage does, so that each continues the last one where it can. */
function createParser() {
  const bodies = createRepeatedBodies();
  return (text: string): ProxyRequest => {
    const bytes = Buffer.from(text);
    const { original } = posted('/v1/messages', bytes);
    const { body, facts } = original;
    const dialect = dialects.messages;
    const repeated = bodies.parse(bytes, 'messages');
    if (repeated !== undefined) return toRequest({ body, dialect, facts, ...repeated });
    const { json } = original;
    const history = bodies.add(bytes, 'messages', json, measureJson(bytes));
    return toRequest({ body, dialect, facts, json, history });
  };
}

/** Edits a request as stages do: `shortOf` gives the text that replaces a result. */
function edited(request: ProxyRequest, shortOf: (index: number) => string): ProxyRequest {
  const results = request.original.blocks().filter(({ kind }) => kind === 'tool_result');
  const short = replaceTexts(
    request,
    new Map(results.map((block) => [block, shortOf(block.index)])),
  );
  const { message } = request.original.blocks().at(-1)!;
  return setParam(appendText(short, message, ' (from my notes: "ü")'), 'max_tokens', 20);
}

test('sends every turn of a long conversation as if it were the first one', () => {
  const parse = createParser();
  const steps: readonly (readonly [text: string, shortOf: (index: number) => string])[] = [
    ...[8, 9, 9, 11, 10, 12].map(
      (turns) => [bodyOf(turns), (index: number) => `short "${index}" ü`] as const,
    ),
    // The same conversation with other results, and another one.
    [bodyOf(12), (index) => `shorter ${index}`],
    [bodyOf(13), (index) => (index % 2 === 0 ? 'even' : `shorter ${index}`)],
    [bodyOf(13, 'Why not?'), (index) => `shorter ${index}`],
    [bodyOf(14), (index) => `shorter ${index}`],
    [bodyOf(14, 'Why?', 6), (index) => `shorter ${index}`],
    [bodyOf(15), (index) => `shorter ${index}`],
  ];
  for (const [text, shortOf] of steps) {
    const alone = render(edited(posted('/v1/messages', Buffer.from(text)), shortOf));
    const inTurn = render(edited(parse(text), shortOf));
    assert.is(inTurn.bytes.toString(), alone.bytes.toString());
  }
});

test('takes what it sends again from the turn before', () => {
  const parse = createParser();
  const shortOf = (index: number): string => `short ${index}`;
  const [first, second] = [8, 9].map((turns) => edited(parse(bodyOf(turns)), shortOf));
  render(first!);
  const before = new Map(sharedBy(first!.original.history, writtenTexts));
  render(second!);
  const after = sharedBy(second!.original.history, writtenTexts)!;
  assert.is([...before].filter(([index, edit]) => after.get(index) === edit).length >= 7, true);
  assert.is(after.size, before.size + 2);
});

test.run();
