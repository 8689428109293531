/** Tool definitions in the request prefix: from session files and from captures of a real proxy. */
import { dirname } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withProxy } from '../../fixtures/proxy.ts';
import { closeClients, exchange, json } from '../../fixtures/server/exchange.ts';
import { COUNTED, TOOLS, claudeCodeLines, sentAtMs } from '../../fixtures/sessions.ts';
import { readCaptures } from '../../stages/captures/decode.ts';
import { captureFolder } from '../../stages/captures/files.ts';
import { createPrices } from '../../stages/ledger/prices/prices.ts';
import { loadTokenCounter } from '../../stages/model/count-tokens.ts';
import { readSessionText } from '../sessions/read-file.ts';
import { createCounters } from './counters.ts';
import { createPrefixReport } from './prefix.ts';

const newReport = (sinceMs = 0) =>
  createPrefixReport({
    prices: createPrices(),
    counterFor: createCounters(),
    sinceMs,
    nowMs: sentAtMs(0),
  });

/** Reports on two session files; the second session calls no tool. */
async function ofSessions(sinceMs = 0) {
  const report = newReport(sinceMs);
  const quiet = claudeCodeLines({ session: 's-2', isSent: true }).map((line) =>
    line.replaceAll('"tool_use"', '"text"'),
  );
  for (const lines of [claudeCodeLines({ isSent: true }), quiet])
    for (const conversation of readSessionText(lines.join('\n'))!.conversations)
      await report.takeConversation(conversation);
  return report.end();
}

test('a tool costs as much as the first tokens of each request, and is marked where it was never called', async () => {
  const { tools, sessions, requests, unpriced } = await ofSessions();
  assert.equal([sessions, requests, unpriced], [2, 6, 0]);
  const toolNamed = (name: string) => tools.find((tool) => tool.name === name)!;
  assert.is(toolNamed('Bash').sessions, 2);
  assert.is(toolNamed('Bash').calledIn, 1);
  assert.is(toolNamed('Read').calledIn, 0);
  const count = await loadTokenCounter('claude');
  assert.is(toolNamed('Read').tokens, count(JSON.stringify(TOOLS[1])));
  // In each session the first request writes the definitions to the cache and the later ones read
  // them.
  const rates = COUNTED.map(([, read]) => (read === 0 ? 1.25 : 0.1));
  const expected = rates.reduce((sum, rate) => sum + rate, 0) * toolNamed('Read').tokens * 3000 * 2;
  const { costNanoUsd } = toolNamed('Read');
  assert.ok(
    Math.abs(costNanoUsd! - expected) < 0.01 * expected,
    `${costNanoUsd} is not ${expected}`,
  );
  assert.is(toolNamed('Read').unusedNanoUsd, costNanoUsd);
  assert.is(toolNamed('Bash').unusedNanoUsd, toolNamed('Bash').costNanoUsd! / 2);
  assert.is(tools.at(-1)!.name, 'Bash', 'the most expensive uncalled tool comes first');
});

test('requests before the time range do not count, and files without tools are counted apart', async () => {
  assert.is((await ofSessions(sentAtMs(1))).requests, 4);
  const report = newReport();
  const [conversation] = readSessionText(claudeCodeLines().join('\n'))!.conversations;
  await report.takeConversation(conversation!);
  assert.equal(report.end(), { tools: [], sessions: 0, requests: 0, unpriced: 0, withoutTools: 1 });
});

test('captures give the same figures in every dialect', () =>
  withProxy({ yaml: 'capture: { enabled: true }\n' }, async (t) => {
    const schema = { type: 'object', properties: {} };
    const call = { id: 'c1', type: 'function', function: { name: 'used', arguments: '{}' } };
    const chat = {
      model: 'gpt-5',
      tools: ['used', 'idle'].map((name) => ({
        type: 'function',
        function: { name, parameters: schema },
      })),
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
    };
    const gemini = {
      contents: [{ role: 'user', parts: [{ text: 'look around' }] }],
      tools: [{ functionDeclarations: [{ name: 'look', parameters: schema }] }],
    };
    await exchange(t.proxy.port, { path: '/v1/chat/completions', body: json(chat) });
    const path = '/v1beta/models/gemini-2.5-pro:generateContent';
    await exchange(t.proxy.port, { path, body: json(gemini) });
    const { tools: _, ...bare } = chat;
    for (const first of [chat.messages[0], { role: 'user', content: 'no tools' }])
      for (const content of ['one', 'two'])
        await exchange(t.proxy.port, {
          path: '/v1/chat/completions',
          body: json({ ...bare, messages: [first, { role: 'assistant', content }] }),
        });
    await t.rows(6);
    await t.proxy.services.captures.flush();
    const report = newReport();
    for (const record of readCaptures(captureFolder(dirname(t.db))).records)
      await report.takeCapture(record);
    const { tools, sessions, withoutTools } = report.end();
    assert.is(sessions, 2);
    assert.is(withoutTools, 1, 'one conversation of two turns; the other has tools too');
    assert.equal(tools.map(({ name, calledIn }) => `${name} ${calledIn}`).toSorted(), [
      'idle 0',
      'look 0',
      'used 1',
    ]);
    assert.ok(tools.every(({ costNanoUsd }) => costNanoUsd !== null && costNanoUsd > 0));
  }));

test.after(closeClients);
test.run();
