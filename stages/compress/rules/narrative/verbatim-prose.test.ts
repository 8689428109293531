import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { builtIn } from '../built-in.ts';
import type { ClassifyHints } from '../../../model/classify/hints.ts';
import { contextFor, STORY } from '../../../../fixtures/compress/texts.ts';

const isCut = (hints: ClassifyHints): boolean =>
  (['hybrid', 'aggressive'] as const).some((mode) => {
    const context = {
      ...contextFor('narrative'),
      mode,
      query: 'Who kept the lighthouse of Corvo?',
      hints,
    };
    return builtIn.apply(STORY, context).by.includes('narrative');
  });

test('keeps instructions for people and agents whole, whichever command reads them', () => {
  for (const name of [
    'AGENTS.md',
    'CLAUDE.md',
    'CLAUDE.local.md',
    'docs/CONTRIBUTING.md',
    '.github/copilot-instructions.md',
    '.cursor/rules/style.mdc',
    '.claude/skills/release/SKILL.md',
    'SPEC.md',
    'TASK.md',
    'docs/requirements.md',
    'docs/adr/0003-queue.md',
    'specs/checkout.md',
    'prompts/review.txt',
    '.github/pull_request_template.md',
  ]) {
    assert.not(isCut({ toolName: 'Read', path: `/app/${name}` }), name);
    assert.not(isCut({ toolName: 'Bash', command: `cat ${name}` }), name);
    assert.not(isCut({ toolName: 'Bash', command: `cd /app && cat "${name}" notes.md` }), name);
  }
});

test('keeps lines whole that were requested by number', () => {
  for (const command of [
    "sed -n '1,80p' docs/notes.md",
    'sed -n 20,90p docs/notes.md',
    'head -50 docs/notes.md',
    'tail -n 40 docs/notes.md',
    'cat docs/notes.md | head -n 60',
    'nl -ba docs/notes.md | sed -n "5,90p"',
  ])
    assert.not(isCut({ toolName: 'Bash', command }), command);
});

test('shortens other prose', () => {
  for (const hints of [
    {},
    { toolName: 'Read', path: '/app/docs/notes.md' },
    { toolName: 'Bash', command: 'cat docs/notes.md' },
    { toolName: 'Read', path: '/app/docs/agents-of-change.md' },
    { toolName: 'fetch', path: '/app/docs/subagents.md' },
  ])
    assert.ok(isCut(hints), JSON.stringify(hints));
});

test.run();
