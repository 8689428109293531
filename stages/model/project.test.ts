/** Working directories as agents state them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Block } from './block.ts';
import { projectInPrompt } from './project.ts';

const block = (text: string, over: Partial<Block> = {}): Block => ({
  index: 0,
  message: -1,
  role: 'system',
  kind: 'system',
  path: ['system'],
  text,
  ...over,
});
const user = (text: string) => block(text, { role: 'user', kind: 'text', message: 0 });

const PROMPTS: Readonly<Record<string, Block>> = {
  'Claude Code, until 2025': block('<env>\nWorking directory: /srv/code/shop\nIs git: Yes\n</env>'),
  'Claude Code, now': block('# Environment\n - Primary working directory: /srv/code/shop\n  - Is'),
  opencode: block(
    'Here is…\n<env>\n  Working directory: /srv/code/shop/\n  Platform: linux\n</env>',
  ),
  pi: block('…\nCurrent working directory: /srv/code/shop'),
  Codex: user('<environment_context>\n  <cwd>/srv/code/shop</cwd>\n</environment_context>'),
  Cline: user('<environment_details>\n# Current Working Directory (/srv/code/shop) Files\na.ts'),
  Roo: user('x\n\n# Current Workspace Directory (d:/code/shop) Files\na.ts'),
  'Gemini CLI': user(
    "Today.\n  I'm currently working in the directory: C:\\Users\\du\\code\\shop\n",
  ),
  'Gemini CLI, several': user(
    "I'm currently working in the following directories:\n    - /srv/shop\n    - /srv/web\n",
  ),
  Cursor: user('<user_info>\nOS Version: linux\nWorkspace Path: /home/anna/shop\n</user_info>'),
  Copilot: user(
    'I am working in a workspace with the following folders:\n- /Users/anna/dev/shop \n',
  ),
  'a sentence before': block(
    'Change the Working directory: never.\nWorking directory: the folder\n\nWorking directory: ~/shop',
  ),
};

for (const [agent, prompt] of Object.entries(PROMPTS))
  test(`finds the project folder in the prompt of ${agent}`, () => {
    assert.is(projectInPrompt([block('You are an agent.'), prompt]), 'shop');
  });

const NONE: Readonly<Record<string, readonly Block[]>> = {
  'a home folder, which is named after a person': [block('Working directory: /home/anna')],
  'a home folder of macOS': [block('Working directory: /Users/anna/')],
  'a home folder of Windows': [block('Working directory: C:\\Users\\anna')],
  'the short name of a home folder': [block('Working directory: ~')],
  'the root': [block('Working directory: /')],
  'a drive': [block('Working directory: D:\\')],
  'no path': [block('Working directory: none')],
  'what a tool printed': [
    block('Working directory: /srv/shop', { role: 'tool', kind: 'tool_result', message: 2 }),
  ],
  'what comes after an answer': [
    block('x', { role: 'assistant', kind: 'text', message: 1 }),
    user('Working directory: /srv/shop'),
  ],
};

for (const [what, blocks] of Object.entries(NONE))
  test(`finds no project in ${what}`, () => {
    assert.is(projectInPrompt(blocks), null);
  });

test.run();
