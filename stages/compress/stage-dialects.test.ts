import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createBench, posted, textOf } from '../../fixtures/compress/stage.ts';

const grepOutput = Array.from(
  { length: 60 },
  (_, n) =>
    `src/components/navigation/sidebar/SidebarItem.tsx:${n + 1}:  const item${n} = useItem(${n});`,
).join('\n');
const LITERAL = JSON.stringify(grepOutput);

/** Bodies as svc itself would never serialize them, with two compressible results. */
const BODIES = [
  {
    target: '/v1/chat/completions',
    body: `{ "model":"m","temperature":1.0, "seed":12345678901234567890,"messages":[
      {"role":"developer","content":${LITERAL}},
      {"role":"user","content":"Where are the items \\u006dade?"},
      {"role":"assistant","content":null,"reasoning_content":${LITERAL},"tool_calls":[
        {"id":"c1","type":"function","function":{"name":"grep","arguments":"{\\"text\\": 1.0}"}},
        {"id":"c2","type":"function","function":{"name":"grep","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"c1","content":${LITERAL},"cache_control":{"type":"ephemeral"}},
      {"role":"tool","tool_call_id":"c2","content":[ {"type":"text","text":${LITERAL}} ]}
    ],"tools":[{"type":"function","function":{"name":"grep","description":${LITERAL}}}],"unknown":{"b":1,"a":2}}`,
    before: ['"tool_call_id":"c1","content":', '{"type":"text","text":'],
    after: [',"cache_control"', '} ]}'],
  },
  {
    target: '/v1/responses',
    body: `{ "model":"m","temperature":1.0, "instructions":${LITERAL},"input":[
      {"type":"message","role":"user","content":[{"type":"input_text","text":"Where are the items \\u006dade?"}]},
      {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"aaaa"},
      {"type":"function_call","call_id":"c1","name":"grep","arguments":"{\\"text\\": 1.0}"},
      {"type":"custom_tool_call","call_id":"c2","name":"shell","input":${LITERAL}},
      {"type":"function_call_output","call_id":"c1","output":${LITERAL}},
      {"type":"custom_tool_call_output","call_id":"c2","output":[ {"type":"input_text","text":${LITERAL}} ]}
    ],"tools":[{"type":"function","name":"grep","description":${LITERAL}}],"unknown":{"b":1,"a":2}}`,
    before: ['"function_call_output","call_id":"c1","output":', '{"type":"input_text","text":'],
    after: ['}', '} ]}'],
  },
  {
    target: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: `{ "generationConfig":{"temperature":1.0}, "systemInstruction":{"parts":[{"text":${LITERAL}}]},"contents":[
      {"role":"user","parts":[{"text":"Where are the items \\u006dade?"}]},
      {"role":"model","parts":[{"text":${LITERAL},"thought":true},
        {"functionCall":{"name":"grep","args":{"text": 1.0}},"thoughtSignature":"c2ln"},
        {"functionCall":{"id":"c2","name":"shell","args":{}}}]},
      {"role":"user","parts":[
        {"functionResponse":{"name":"grep","response":{"output":${LITERAL}, "exit_code":0}}},
        {"function_response":{"id":"c2","name":"shell","response":{ "result" :${LITERAL}}}}]}
    ],"tools":[{"functionDeclarations":[{"name":"grep","description":${LITERAL}}]}],"unknown":{"b":1,"a":2}}`,
    before: ['"response":{"output":', '"response":{ "result" :'],
    after: [', "exit_code"', '}}}]}'],
  },
] as const;

for (const { target, body, before, after } of BODIES) {
  test(`makes results smaller and keeps every other byte: ${target}`, async () => {
    const bench = await createBench();
    try {
      const out = textOf(await bench.send(posted(target, Buffer.from(body))));
      assert.is(bench.notes.get('blocks_changed'), 2);
      const [first = grepOutput, second = grepOutput] = (bench.originals.ofRequest('r1') ?? []).map(
        (block) => block.after,
      );
      for (const text of [first, second]) assert.ok(text.length < grepOutput.length * 0.8);
      const wanted = body
        .replace(before[0] + LITERAL + after[0], () => before[0] + JSON.stringify(first) + after[0])
        .replace(
          before[1] + LITERAL + after[1],
          () => before[1] + JSON.stringify(second) + after[1],
        );
      assert.is(out, wanted);
    } finally {
      await bench.close();
    }
  });
}

test.run();
