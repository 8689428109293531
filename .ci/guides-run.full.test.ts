/** Every command line in the documents is run in a shell, on the files that they show. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { entry, makePlace } from '../fixtures/cli/run.ts';
import { projectRoot } from '../fixtures/paths.ts';
import { claudeCodeLines } from '../fixtures/sessions.ts';
import { startUpstream } from '../fixtures/upstream.ts';
import { guideFiles } from './guides.ts';

const files = [...guideFiles().keys()];
const textOf = (file: string) => fs.readFileSync(join(projectRoot, file), 'utf8');

/**
 * Lines with a different result here, as all providers are local and svc has learned from their
 * made-up counts.
 */
const LINES_WITH_OTHER_OUTPUT: readonly (readonly [line: RegExp, output: RegExp])[] = [
  [/^svc certify/, /certificate does not hold|"holds": false/],
  [/^svc run --forward/, /^error: No provider has a host/m],
  [/^svc ca show/, /There is no certificate authority/],
];

/** What a reader does with a page: types a line, saves a file, compares the output. */
type Step =
  | { readonly kind: 'line'; readonly line: string }
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'shown'; readonly lines: readonly string[] };

/**
 * Returns lines of `sh` blocks, files of blocks with a language and a name, and output of `text
 * shown` blocks.
 */
function stepsOf(file: string): readonly Step[] {
  return [...textOf(file).matchAll(/^```(\w+)(?: (\S+))?\n([^]*?)^```/gm)].flatMap(
    ([, language, name, text = '']): readonly Step[] => {
      if (name === 'shown') return [{ kind: 'shown', lines: text.trimEnd().split('\n') }];
      if (name !== undefined) return [{ kind: 'file', name, text }];
      return language === 'sh' ? linesOf(text).map((line) => ({ kind: 'line', line })) : [];
    },
  );
}

const linesOf = (block: string): readonly string[] =>
  block
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/**
 * Replaces `npm`, which would install, build and test within a test: scripts must exist, and
 * `npm run svc -- …` runs svc.
 */
const NPM = `#!/usr/bin/env node
const { spawnSync } = require('node:child_process');
const [verb, ...rest] = process.argv.slice(2);
const script = verb === 'run' ? rest[0] : verb;
const { scripts } = require(${JSON.stringify(join(projectRoot, 'package.json'))});
if (scripts[script] === undefined) { console.error('no script ' + script); process.exit(9); }
if (script === 'svc')
  process.exit(spawnSync('svc', rest.slice(rest.indexOf('--') + 1), { stdio: 'inherit' }).status ?? 9);
`;

/**
 * Replaces a client: it sends one conversation with a compressible result, to the URL in the
 * variable that it reads.
 */
/** Replaces Codex and Gemini CLI, which are only asked to add an MCP server. */
const MCP_CLIENT = '#!/bin/sh\n[ "$1 $2" = "mcp add" ]\n';

const CLAUDE = `#!/usr/bin/env node
if (process.argv[2] === 'mcp') process.exit(0);
const result = Array.from({ length: 900 }, (_, n) => 'ok ' + n + ' - fetches page ' + (n % 7)).join('\\n');
const messages = [
  { role: 'user', content: 'Run the tests.' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: result }] },
];
fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': 'mine', 'x-svc-capture': 'on' },
  body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, messages }),
}).then((answer) => process.exit(answer.status === 200 ? 0 : 9));
`;

/** Replaces `curl` and a browser's `open`. */
const CURL = `#!/usr/bin/env node
fetch(process.argv.at(-1)).then(async (answer) => {
  console.log(await answer.text());
  process.exit(answer.ok ? 0 : 22);
});
`;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly output: string;
}

/** Runs a line asynchronously, since the fake provider answers from this same process. */
function shell(line: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      'sh',
      ['-c', line],
      { cwd, env, timeout: 300_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, output: `${stdout}${stderr}` });
      },
    );
    // Ends programs that wait for input, such as `svc mcp`.
    child.stdin?.end();
  });
}

/** The capture id shown in the documents. */
const PRINTED_ID = 'TwLFV0';

async function newestCapture(cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await shell('svc replay list --json', cwd, env);
  const { captures } = JSON.parse(stdout) as { captures: readonly { id: string }[] };
  return captures.at(-1)?.id ?? 'none';
}

/** One exchange as saved by a browser's developer tools. */
const TRAFFIC = {
  log: {
    version: '1.2',
    creator: { name: 'test', version: '1' },
    entries: [
      {
        startedDateTime: '2026-11-01T00:00:00.000Z',
        time: 5,
        request: {
          method: 'POST',
          url: 'https://api.anthropic.com/v1/messages',
          httpVersion: 'HTTP/1.1',
          headers: [{ name: 'content-type', value: 'application/json' }],
          queryString: [],
          cookies: [],
          headersSize: -1,
          bodySize: -1,
          postData: {
            mimeType: 'application/json',
            text: JSON.stringify({
              model: 'claude-sonnet-4-5',
              max_tokens: 9,
              messages: [{ role: 'user', content: 'Hello' }],
            }),
          },
        },
        response: {
          status: 200,
          statusText: 'OK',
          httpVersion: 'HTTP/1.1',
          headers: [{ name: 'content-type', value: 'application/json' }],
          cookies: [],
          redirectURL: '',
          headersSize: -1,
          bodySize: -1,
          content: {
            size: 2,
            mimeType: 'application/json',
            text: JSON.stringify({
              id: 'm',
              type: 'message',
              role: 'assistant',
              model: 'claude-sonnet-4-5',
              content: [{ type: 'text', text: 'Hi' }],
              stop_reason: 'end_turn',
              usage: { input_tokens: 3, output_tokens: 1 },
            }),
          },
        },
        cache: {},
        timings: { send: 1, wait: 2, receive: 2 },
      },
    ],
  },
};

/**
 * Provides a shell with svc, replacements for missing programs, files to work on and a running
 * proxy.
 */
async function withShell(
  use: (runLine: (line: string) => Promise<string>, folder: string) => Promise<void>,
): Promise<void> {
  const place = makePlace();
  const upstream = await startUpstream();
  const bin = join(place.folder, 'bin');
  fs.mkdirSync(bin);
  const svc = `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`;
  for (const [name, text] of Object.entries({
    svc,
    npm: NPM,
    claude: CLAUDE,
    codex: MCP_CLIENT,
    gemini: MCP_CLIENT,
    curl: CURL,
    open: CURL,
  }))
    fs.writeFileSync(join(bin, name), text, { mode: 0o755 });
  for (const folder of ['work/project', 'old'])
    fs.mkdirSync(join(place.folder, folder), { recursive: true });
  fs.writeFileSync(
    join(place.folder, 'work/project/limits.md'),
    '# Rate limiter\n\nThe rate limiter is in gate/limiter.ts.\n',
  );
  fs.writeFileSync(join(place.folder, 'old/notes.md'), '# Old notes\n\nNothing new.\n');
  const sessions = join(place.folder, '.claude/projects/-app');
  fs.mkdirSync(sessions, { recursive: true });
  fs.writeFileSync(join(sessions, 's.jsonl'), claudeCodeLines().join('\n'));
  fs.writeFileSync(join(place.folder, 'build.log'), 'compiling module 1\n'.repeat(400));
  const env = {
    ...place.env,
    PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    SVC_PORT: '0',
    SVC_WS_PORT: '0',
    MSGPROV_BASE_URL: upstream.url,
    CHATPROV_BASE_URL: upstream.url,
    GENPROV_BASE_URL: upstream.url,
  };
  fs.writeFileSync(
    join(place.folder, 'redact.mjs'),
    "export default { name: 'redact', setup: () => ({ stages: [{ before: 'route', on: {} }] }) };",
  );
  fs.cpSync(join(projectRoot, 'examples'), join(place.folder, 'examples'), { recursive: true });
  fs.writeFileSync(join(place.folder, 'traffic.har'), JSON.stringify(TRAFFIC));
  fs.mkdirSync(join(place.folder, 'tests'));
  fs.mkdirSync(join(place.folder, 'bodies/one'), { recursive: true });
  const body = JSON.stringify({ max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] });
  for (const name of ['1.before.json', '1.after.json'])
    fs.writeFileSync(join(place.folder, 'bodies/one', name), body);
  try {
    const started = await shell('svc start --background --json', place.folder, env);
    const { url } = JSON.parse(started.stdout) as { url: string };
    await use(async (line) => {
      const kept = line.includes(PRINTED_ID) ? await newestCapture(place.folder, env) : '';
      const typed = line.replaceAll('http://127.0.0.1:8766', url).replaceAll(PRINTED_ID, kept);
      const ran = await shell(typed, place.folder, env);
      const isExpectedDifference = LINES_WITH_OTHER_OUTPUT.some(
        ([of, says]) => of.test(line) && says.test(ran.output),
      );
      if (!isExpectedDifference) assert.is(ran.code, 0, `${line}\n${ran.output}`);
      return ran.output;
    }, place.folder);
  } finally {
    await shell('svc stop --force', place.folder, env);
    await upstream.close();
    place.dispose();
  }
}

test('every command line in the documents runs on the files that the document shows', () =>
  withShell(async (runLine, folder) => {
    // The documents' commands need a request, an index, and a second folder in it.
    for (const line of [
      'ANTHROPIC_BASE_URL=http://127.0.0.1:8766 claude',
      'svc index ~/work/project',
      `svc replay show ${PRINTED_ID} --save tests/slow.msgpack`,
      'mkdir -p ~/.svc && cp -r "$SVC_HOME/captures" ~/.svc/',
    ])
      await runLine(line);
    let count = 0;
    for (const file of files) {
      await runLine('rm -f "$SVC_HOME/config.yaml" && svc index ~/old');
      let output = '';
      for (const step of stepsOf(file)) {
        if (step.kind === 'file') {
          const path = join(folder, step.name);
          fs.mkdirSync(dirname(path), { recursive: true });
          fs.writeFileSync(path, step.text, { mode: 0o644 });
        } else if (step.kind === 'shown') {
          for (const line of step.lines) assert.ok(output.includes(line), `${file}: ${line}`);
        } else {
          output = await runLine(step.line);
          count += 1;
        }
      }
    }
    assert.ok(count > 30, `${count} lines were found`);
  }));

test.run();
