/** No grammar in use may cost more processor time than its parsing: engines compile hot code anew. */
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CODE_EXTENSIONS, grammarFor } from './compress/code/code-tools.ts';
import { createGrammarLoader } from './grammars.ts';
import { GRAMMARS } from './vault/read/grammar.ts';

const times = (n: number): string => Array.from({ length: 9 }, (_, at) => `a${n + at}`).join(', ');

/** A definition number `n` in each language. */
const SAMPLES: Readonly<Record<string, (n: number) => string>> = {
  bash: (n) => `f${n}() {\n  for x in "$@"; do echo "$x ${n}" | grep -v '^a' || true; done\n}\n`,
  'c-sharp': (n) =>
    `class A${n} { int F(int v) { foreach (var x in new[]{1, ${n}}) v += x; return v; } }\n`,
  cpp: (n) => `int f${n}(int v) { for (int i = 0; i < ${n}; ++i) v += i * 2; return v ? v : 1; }\n`,
  css: (n) => `.a${n} > b:hover { margin: ${n}px auto; color: rgb(1, 2, 3) }\n`,
  go: (n) => `func f${n}(v int) (int, error) { return v + ${n}, nil }\n`,
  ini: (n) => `[part ${n}]\nname = ${n}\n`,
  java: (n) => `class A${n} { int f(int v) { return v > 1 ? v + ${n} : call("x"); } }\n`,
  javascript: (n) => `export function f${n}(v) { return [...v, { ${times(n)} }]; }\n`,
  php: (n) => `<?php function f${n}($v) { return $v ? $v + ${n} : [1, 'a' => "b $v"]; } ?>\n`,
  powershell: (n) =>
    `function Get-${n} {\n  param([string]$Name)\n  if ($Name -gt 3) { Write-Host "x $Name" } else { return @{ a = 1 } }\n  Get-ChildItem -Path $Name | Where-Object { $_.Length -gt ${n} }\n}\n`,
  python: (n) => `def f${n}(v, *, w=None):\n    return f"{v}" + 'x' if w else [x for x in v]\n`,
  ruby: (n) => `def f${n}(v)\n  v.map { |x| x + ${n} }.select(&:odd?)\nend\n`,
  rust: (n) => `fn f${n}(v: u32) -> u32 { match v { 0 => ${n}, _ => v + 1 } }\n`,
  tsx: (n) => `const A${n} = (p: P) => <b class="x">{p.list.map((one) => <i>{one}</i>)}</b>;\n`,
  typescript: (n) => `export function f${n}(v: number): string { return \`\${v}\` + 'x'; }\n`,
};

const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

test('parsing costs little more than the parsing, in every language', async () => {
  const loader = createGrammarLoader();
  const names = new Set([...GRAMMARS.values(), ...CODE_EXTENSIONS.map((one) => grammarFor(one)!)]);
  for (const name of names) {
    const sample = SAMPLES[name];
    if (sample === undefined) throw new Error(`${name} has no sample here`);
    const text = Array.from({ length: 150 }, (_, n) => sample(n)).join('\n');
    const before = process.cpuUsage();
    const { parser } = await loader.load(name);
    for (let round = 0; round < 12; round += 1) parser.parse(text)?.delete();
    await delay(500);
    const ms = cpuMs(before);
    assert.ok(ms < 6000, `${name}: ${Math.round(ms)} ms of processor`);
  }
  // What the engine does behind our back shows later.
  const before = process.cpuUsage();
  await delay(2000);
  assert.ok(
    cpuMs(before) < 1000,
    `${Math.round(cpuMs(before))} ms of processor while nothing is parsed`,
  );
});

test.run();
