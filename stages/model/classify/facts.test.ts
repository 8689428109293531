/** Rows, names, hits, changed lines and code must never be classified as prose. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { classify } from './classify.ts';
import type { ClassifyHints } from './hints.ts';

const THINNED = ['narrative', 'log', 'trace'];
const WORDS = 'budget review of the northern sales team for annual customer contracts'.split(' ');
const rows = (make: (n: number, word: string) => string, count = 60): string =>
  Array.from({ length: count }, (_, n) => make(n, WORDS[n % WORDS.length]!)).join('\n');
const colour = (line: string): string => `\u001b[32m${line}\u001b[m`;

const DIFF = `diff --git a/n.md b/n.md\n--- a/n.md\n+++ b/n.md\n@@ -1,20 +1,20 @@\n${rows(
  (n, word) => `${' -+'[n % 3]}the ${word} was read and written again in line ${n}.`,
  20,
)}`;

const FACTS: Readonly<Record<string, readonly [string, ClassifyHints?]>> = {
  'names with blanks': [rows((n, word) => `final ${word} report for the sales team ${n}.pdf`)],
  'names with blanks, ls': [rows((n, word) => `the ${word} of our team ${n}`), { command: 'ls x' }],
  'Cyrillic names': [rows((n) => `отчёт отдела продаж за март и май ${n}.docx`)],
  'Chinese names': [rows((n) => `年度销售报告第${n}号最终版本文件.docx`)],
  csv: [rows((n, word) => `${word} and sons limited,Berlin,${n * 37}`)],
  'csv with times': [
    `at,town,value\n${rows((n, word) => `2024-01-02 10:00:0${n % 10},${word},${n}`)}`,
  ],
  psql: [
    ` id | name | total\n----+------+----\n${rows((n, word) => ` ${n} | the ${word} of the team | ${n}`)}`,
  ],
  'git log': [
    rows((n, word) => `${(n + 4096).toString(16)}abc Add the ${word} to the report of the team`),
  ],
  dpkg: [
    rows((n, word) => `ii  lib${word}${n}  ${n}.0-1  amd64  shared library for ${word} files`),
  ],
  routes: [rows((n) => `10.0.${n}.0/24 via 192.168.1.${n} dev eth0 proto static metric 100`)],
  crontab: [rows((n, word) => `${n} 3 * * * /usr/bin/${word} --all the nightly job of the team`)],
  ps: [
    rows(
      (n, word) => `root  ${n}  0.0  0.1  12  60 ?  Ss  06:00  0:00 worker ${word} of the queue`,
    ),
  ],
  help: [
    rows(
      (n, word) => `  -${word[0]}, --${word}-${n}    Read the ${word} and print it. Needs a file.`,
    ),
  ],
  heading: [
    rows((n, word) => (n % 9 === 0 ? `\nsrc/a${n}.md` : `${n}:The ${word} is read. It is kept.`)),
  ],
  'heading with context': [
    rows((n, word) =>
      n % 9 === 0 ? `--\nsrc/a${n}.md` : `${n}${n % 2 ? ':' : '-'}The ${word} is read.`,
    ),
  ],
  'plain diff': [
    rows((n, word) => `${n}c${n}\n< The ${word} was read by us.\n---\n> The ${word} was not read.`),
  ],
  'context diff': [
    rows((n, word) => `${'! +-'[n % 4]} The ${word} was read by all of us today.`),
    { command: 'diff -rc a b' },
  ],
  'word diff': [
    `@@ -1 +1 @@\n${rows((n, word) => `The [-${word}-]{+team+} was read by all of us today.`)}`,
  ],
  'coloured diff': [DIFF.split('\n').map(colour).join('\n')],
  hits: [
    rows((n, word) => `The ${word} is what the sentence in line ${n} is about.`),
    { command: 'grep word a.md' },
  ],
  'vim script': [
    rows((n, word) => `" The ${word} of the file is read here.\nlet s:${word}${n} = 1`),
    { path: 'x/a.vim' },
  ],
  'man source': [
    `.TH X 1\n.SH NAME\n${rows((n, word) => `The ${word} of the file is read here by us.\n.B ${word}`)}`,
  ],
  'script without extension': [
    `#!/usr/bin/env perl\n${rows((n, word) => `The ${word} of the file is read here by all of us. It stays.`)}`,
    { path: '/bin/x' },
  ],
  'full git log': [
    rows(
      (n, word) =>
        `commit ${n}abc\nAuthor: A <a@b.test>\n\n    Read the ${word} of the team first. It was wrong before.\n`,
    ),
    { command: 'git log -n 60' },
  ],
  repl: [
    rows(
      (n, word) =>
        `>>> show("${word}")\n>>> show(${n})\nThe ${word} of the team was loaded. It has rows.`,
    ),
  ],
  subtitles: [
    rows(
      (n, word) =>
        `${n}\n00:00:${n + 10},000 --> 00:00:${n + 11},000\nThe ${word} of the team was read by us.\n`,
    ),
  ],
  issues: [
    rows((n, word) => `#${n}  OPEN  Crash when the ${word} of the team is opened twice  bug`),
  ],
  'module with a long preface': [
    `"""${rows((n, word) => `The ${word} of the file is read here by all of us. It stays.`)}\n"""\n${rows((n, word) => `def ${word}_${n}(a):`, 25)}`,
  ],
  makefile: [
    rows((n, word) => `# The ${word} of the file is built here.\n${word}${n}: a.o b.o`),
    { path: 'a/b.mk' },
  ],
  'shell script': [
    `#!/bin/sh\n${rows((n, word) => `# The ${word} of the file is read here.\nrun ${word} ${n} with the team`)}`,
  ],
};

for (const [name, [text, hints]] of Object.entries(FACTS)) {
  test(`gives no class whose lines may be dropped to ${name}`, () => {
    const { kind } = classify(text, hints);
    assert.ok(!THINNED.includes(kind), kind);
  });
}

test('classifies coloured text like plain text', () => {
  for (const [text, hints] of [...Object.values(FACTS), [DIFF] as const]) {
    const coloured = text.split('\n').map(colour).join('\n');
    assert.is(classify(coloured, hints).kind, classify(text, hints).kind, text.slice(0, 80));
  }
});

test('recognises names, hits and changed lines', () => {
  assert.is(classify(FACTS['Cyrillic names']![0]).kind, 'listing');
  assert.is(classify(FACTS['names with blanks, ls']![0], { command: 'ls x' }).kind, 'listing');
  for (const toolName of ['grep_search', 'mcp__repo__search', 'searchFiles', 'Grep', 'bash'])
    assert.is(classify(FACTS['heading']![0], { toolName }).kind, 'grep', toolName);
  assert.is(classify(FACTS['coloured diff']![0]).kind, 'diff');
});

const BUILT = rows((n, word) => `   Compiling ${word}-${n} v0.${n}.1`, 90);
const STATED: Readonly<Record<string, string>> = {
  'uv pip freeze': rows((n, word) => `${word}-${n}==1.${n}.0`),
  'uv pip list': `Package Version\n------- -------\n${rows((n, word) => `${word}${n} 1.${n}.0`)}`,
  'npm run list-users': `\n> app@1.0.0 list-users\n> node list.js\n\n${rows((n, word) => `${n}) ${word} <u${n}@a.test>`, 14)}`,
  'yarn report': `yarn run v1.22.19\n$ node report.js\n${rows((n, word) => `${word}: ${n * 37} of the team`, 14)}\nDone in 0.42s.`,
  'cargo run -- list': `${BUILT}\n    Finished dev [unoptimized] target(s) in 9.1s\n     Running \`target/debug/app list\`\n${rows((n, word) => `${word} ${n * 91} open`)}`,
  'cargo run': `${BUILT}\n    Finished \`dev\` profile in 9.1s\n     Running \`target/debug/app\`\n${rows((n, word) => `- ${word} ${n * 91}`)}`,
  'mvn dependency:tree': rows((n, word) => `[INFO] +- org.${word}:lib-${n}:jar:1.${n}:compile`),
  'gradle tasks --all': rows((n, word) => `${word}${n} - Assembles the ${word} of the team.`),
  'npx tsc -p . --listFilesOnly': rows((n, word) => `/srv/${word}/a b ${n}.ts`),
  'docker compose ps': rows((n, word) => `web-${word}-${n} "run it" Up ${n} hours 80/tcp`),
  'go list -m all': rows((n, word) => `example.test/${word}/m${n} v1.${n}.0`),
  'make figures': rows((n, word) => `${word} of town ${n} is ${n * 7}`),
  'pytest --collect-only -q': rows((n, word) => `tests/test_${word}.py::test_${n}`),
  'npm run letters': rows(
    (n, word) => `The ${word} of the team was read by all of us in ${1900 + n}.`,
  ),
};

for (const [command, text] of Object.entries(STATED)) {
  test(`gives no class whose lines may be dropped to the output of ${command}`, () => {
    const { kind } = classify(text, { command });
    assert.ok(!THINNED.includes(kind), kind);
  });
}

const WORKED: Readonly<Record<string, string>> = {
  'npm run build': `\n> app@1.0.0 build\n> node build.js\n\n${rows((n, word) => `step ${n} of the ${word} took ${n * 7} ms`)}`,
  'make all': rows((n, word) =>
    n % 3 === 0 ? `gcc -O2 -c ${word}${n}.c -o ${n}.o` : `  the ${word}`,
  ),
  'npm start': rows((n, word) =>
    n % 4 === 0 ? `Loading ${word} ${n}...` : `${word} ${n} is there`,
  ),
  'cargo run -- serve': `${BUILT}\n    Finished dev in 9.1s\n     Running \`target/debug/app serve\`\n${rows((n, word) => `2026-01-02T03:04:05Z INFO ${word} ${n}`)}`,
  'cargo build': `${BUILT}\n    Finished dev [unoptimized] target(s) in 9.1s`,
  './gradlew build': rows((n, word) => `> Task :${word}:compile${n}`),
};

for (const [command, text] of Object.entries(WORKED)) {
  test(`classifies the output of ${command} as a log`, () => {
    assert.is(classify(text, { command }).kind, 'log');
  });
}

const PROSE: Readonly<Record<string, string>> = {
  English:
    'The harbour was quiet that morning. Nobody had expected the ship so early; the crew said nothing. ',
  German:
    'Der Hafen war an diesem Morgen still. Niemand hatte das Schiff so früh erwartet, und alle schwiegen. ',
  Russian: 'В то утро в гавани было тихо. Никто не ждал корабль так рано, и команда молчала. ',
  Greek: 'Το λιμάνι ήταν ήσυχο εκείνο το πρωί. Κανείς δεν περίμενε το πλοίο τόσο νωρίς. ',
  Arabic: 'كان الميناء هادئا في ذلك الصباح. لم يتوقع أحد وصول السفينة مبكرا، ولم يقل الطاقم شيئا. ',
  Hindi: 'उस सुबह बंदरगाह बहुत शांत था। किसी ने इतनी जल्दी जहाज़ के आने की आशा नहीं की थी। ',
  Chinese: '那天早晨港口非常安静。没有人想到那艘船会这么早回来，船员们什么也没有说。',
  Japanese: 'その朝、港はとても静かだった。船がこんなに早く戻るとは誰も思っていなかった。',
  Korean: '그날 아침 항구는 매우 조용했다. 아무도 배가 그렇게 일찍 돌아올 줄은 몰랐다. ',
};

for (const [language, text] of Object.entries(PROSE)) {
  test(`classifies ${language} sentences as narrative, in long and in short lines`, () => {
    assert.is(classify(text.repeat(30)).kind, 'narrative');
    assert.is(classify(`${text}\n\n`.repeat(30), { command: 'curl -s x' }).kind, 'narrative');
  });
}

test('classifies hard-wrapped mails and documents as narrative', () => {
  const words = `${PROSE['English']!} `.repeat(20).split(/\s+/);
  const lines = Array.from({ length: Math.floor(words.length / 11) }, (_, at) =>
    words.slice(at * 11, at * 11 + 11).join(' '),
  );
  assert.is(classify(lines.join('\n')).kind, 'narrative');
  assert.is(
    classify(`From: a@b.test\nSubject: ships\n\n${lines.join('\n')}\n\n> earlier\n`).kind,
    'narrative',
  );
});

test.run();
