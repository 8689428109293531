/** `svc savings --estimate` on made-up session files of every client. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { exitCodes } from '../exit.ts';
import type { Place } from '../../fixtures/cli/run.ts';
import {
  SECRET,
  claudeCodeLines,
  codexLines,
  geminiLines,
  writeOpencode,
} from '../../fixtures/sessions.ts';

/** The session files in the clients' places, below the user's home. */
function withSessions(use: (place: Place) => Promise<void>): Promise<void> {
  const place = makePlace();
  const write = (path: string, lines: readonly string[]): void => {
    mkdirSync(join(place.folder, path, '..'), { recursive: true });
    writeFileSync(join(place.folder, path), lines.join('\n'));
  };
  write('.claude/projects/-app/0c1f.jsonl', claudeCodeLines());
  write('.codex/sessions/2026/01/02/rollout-1.jsonl', codexLines());
  write('.gemini/tmp/app/chats/session-1.jsonl', geminiLines());
  write('.claude/projects/-app/broken.jsonl', [`{"token":"${SECRET}"`]);
  mkdirSync(join(place.folder, '.local/share/opencode'), { recursive: true });
  writeOpencode(join(place.folder, '.local/share/opencode/opencode.db'));
  return use(place).finally(() => place.dispose());
}

/** Returns every file with its size and time. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = statSync(path);
      return `${path} ${size} ${mtimeMs}`;
    })
    .toSorted();
}

test('all clients are found; nothing is written, and no content is printed', () =>
  withSessions(async (place) => {
    const before = filesIn(place.folder);
    const ran = await run(place, ['savings', '--estimate']);
    assert.is(ran.code, 0, ran.stderr);
    for (const client of ['claude-code', 'codex', 'gemini-cli', 'opencode'])
      assert.match(ran.stdout, client);
    assert.match(ran.stderr, 'broken.jsonl: not a session file of a known client');
    assert.match(ran.stdout, 'nothing was sent and nothing written');
    assert.match(ran.stdout, /4 of 4 conversations hold no system prompt or no tools/);
    for (const text of [ran.stdout, ran.stderr]) assert.not.match(text, SECRET);
    assert.equal(filesIn(place.folder), before);
  }));

test('one folder as JSON, with the requested mode and time span', () =>
  withSessions(async (place) => {
    const folder = join(place.folder, '.claude');
    const ask = async (...more: string[]) =>
      JSON.parse((await run(place, ['savings', '--estimate', folder, '--json', ...more])).stdout);
    const report = await ask();
    const [all] = report.groups;
    assert.is(report.mode, 'hybrid');
    assert.is(report.files, 1);
    assert.is(report.files_failed.length, 1);
    assert.is(all.client, 'claude-code');
    assert.is(all.requests, 3);
    assert.ok(all.saved_tokens > 5000 && all.saved_usd > 0 && all.saved_usd < all.input_cost_usd);
    assert.is((await ask('--mode', 'strict')).groups[0].saved_tokens, 0);
    mkdirSync(place.home);
    writeFileSync(join(place.home, 'config.yaml'), 'compression: { enabled: false }\n', {
      mode: 0o600,
    });
    assert.is((await ask()).groups[0].saved_tokens, 0, 'as the configuration says');
  }));

test('results left out at pauses are counted if the configuration enables that', () =>
  withSessions(async (place) => {
    const text = (await run(place, ['savings', '--estimate'])).stdout;
    assert.match(text, 'forgetting (compression.cold_trim is off)');
    mkdirSync(place.home);
    const yaml = 'compression: { cold_trim: 20m, long_results_tokens: 5000 }\n';
    writeFileSync(join(place.home, 'config.yaml'), yaml, { mode: 0o600 });
    const report = JSON.parse((await run(place, ['savings', '--estimate', '--json'])).stdout);
    assert.equal([report.cold_trim_seconds, report.long_results_tokens], [1200, 5000]);
    assert.equal([report.groups[0].cold_moments, report.groups[0].results_left_out], [0, 0]);
    const printed = (await run(place, ['savings', '--estimate'])).stdout;
    assert.match(printed, 'compression.cold_trim left out 0 old results at 0 pauses');
    assert.not.match(printed, 'forgetting');
  }));

test('an empty folder, a missing one, and incompatible options are refused', () =>
  withSessions(async (place) => {
    mkdirSync(join(place.folder, 'empty'));
    const none = await run(place, ['savings', '--estimate', 'empty']);
    assert.match(none.stderr, 'There is no session in');
    assert.is(none.code, (await run(place, ['savings', '--estimate', 'nowhere'])).code);
    writeFileSync(join(place.folder, 'empty', 'notes.jsonl'), '{"type":\n');
    const bad = await run(place, ['savings', '--estimate', 'empty']);
    assert.is(bad.code, none.code);
    assert.is(bad.stdout, '');
    assert.match(bad.stderr, /notes\.jsonl: [^]*There is no session in/);
    assert.match((await run(place, ['savings', 'empty'])).stderr, 'need --estimate');
    const refused = async (...flags: string[]) => {
      const ran = await run(place, ['savings', ...flags]);
      assert.is(ran.code, exitCodes.usage, flags.join(' '));
      return ran.stderr;
    };
    assert.match(await refused('--estimate', '--seconds', '0'), '--seconds');
    assert.match(await refused('--estimate', '--prefix'), 'exclude each other');
    assert.match(
      await refused('--estimate', '--since', '2026-01-01'),
      '--since cannot be combined',
    );
    assert.match(await refused('--prefix', '--mode', 'hybrid'), '--mode needs --estimate');
    assert.match(await refused('--seconds', '3'), 'need --estimate');
  }));

test('shows tools that were never called, their cost, and how to turn them off', () =>
  withSessions(async (place) => {
    const lines = claudeCodeLines({ session: 'sent', isSent: true });
    writeFileSync(join(place.folder, '.claude/projects/-app/sent.jsonl'), lines.join('\n'));
    const before = filesIn(place.folder);
    const ran = await run(place, ['savings', '--prefix', '--since', '2026-01-01']);
    assert.is(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /claude-code +Read +\d+ +1 +1 +3 +\$0\.\d+ +\$0\.\d+/);
    assert.match(ran.stdout, '{ "permissions": { "deny": ["NotebookEdit","Read"]');
    assert.match(ran.stdout, '4 conversations without tool definitions');
    assert.not.match(ran.stdout, SECRET);
    assert.not.match(ran.stdout, 'does what its name says');
    assert.equal(filesIn(place.folder), before);
    const json = await run(place, ['savings', '--prefix', '--since', '2026-01-01', '--json']);
    const { tools } = JSON.parse(json.stdout);
    assert.equal(tools.map((tool: { name: string }) => tool.name).toSorted(), [
      'Bash',
      'NotebookEdit',
      'Read',
    ]);
    const later = await run(place, ['savings', '--prefix', '--since', '2026-02-01', '--json']);
    assert.is(JSON.parse(later.stdout).requests, 0);
  }));

test.run();
