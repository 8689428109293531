/** How the vault's commands handle damage, and content that must be removed. */
import { EventEmitter } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exitCodes } from '../exit.ts';
import { runCli } from '../run.ts';
import { makeContext } from '../../fixtures/cli/run.ts';
import { json, logOf, withFiles } from '../../fixtures/cli/vault-files.ts';

test('vault-health reports a damaged index, and repairs it', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    assert.is((await svc('vault-health')).code, 0);
    const bytes = readFileSync(logOf(place));
    bytes.fill('#', 200, 260);
    writeFileSync(logOf(place), bytes);
    const broken = await svc('vault-health');
    assert.is(broken.code, exitCodes.internal);
    assert.match(broken.stdout, /The index is broken[^]*damaged at byte/);
    assert.match(broken.stderr, /vault-health repair/);
    assert.is(json((await svc('vault-health', '--json')).stdout)['status'], 'broken');
    const repaired = json((await svc('vault-health', 'repair', '--json')).stdout);
    assert.equal([repaired['status'], repaired['unreadable']], ['ok', []]);
    assert.match(String(repaired['moved_to']), /corrupt-/);
    assert.match((await svc('search', 'flumbrick')).stdout, /gate\.md/);
    assert.is((await svc('vault-health')).code, 0);
    const rebuilt = await svc('rebuild-vault-index');
    assert.is(rebuilt.code, 0);
    assert.not.match(rebuilt.stdout, /old index/);
    await svc('index', 'files', '--forget');
    assert.match((await svc('rebuild-vault-index')).stdout, /^No folder is indexed/);
  });
});

test('a repair leaves the file of another program alone, and is not suggested for it', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const foreignFile = join(place.home, '.index', 'blocks.db');
    writeFileSync(foreignFile, 'notes of mine\n'.repeat(500));
    const health = await svc('vault-health');
    assert.is(health.code, exitCodes.internal);
    assert.match(health.stdout, /blocks\.db is not a vault index/);
    assert.match(health.stderr, /SVC_VAULT_INDEX/);
    assert.not.match(health.stderr, /repair/);
    const repaired = await svc('vault-health', 'repair');
    assert.is(repaired.code, exitCodes.config);
    assert.match(repaired.stderr, /blocks\.db is not a vault index/);
    assert.is(readFileSync(foreignFile, 'utf8').length, 7000);
    assert.match((await svc('search', 'flumbrick')).stdout, /gate\.md/);
  });
});

test('damage found by a search is repaired before it responds, or later if interrupted', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const damage = (): void => {
      const bytes = readFileSync(logOf(place));
      const at = bytes.indexOf('flumbrick gate opens');
      bytes.fill('#', at - 100, at + 100);
      writeFileSync(logOf(place), bytes);
    };
    damage();
    const found = await svc('search', 'quorble');
    assert.match(found.stderr, /was damaged[^]*the old one is [^]*read again/);
    assert.match(found.stdout, /gate\.md/);
    const whole = json((await svc('vault-health', '--json')).stdout);
    assert.equal([whole['status'], whole['files']], ['ok', 5]);
    damage();
    const events = new EventEmitter();
    const stderr = new PassThrough();
    let output = '';
    stderr.on('data', (piece: Buffer) => {
      output += piece.toString();
      if (output.includes('read again')) events.emit('SIGINT');
    });
    const { context } = makeContext(place, { events, stderr });
    assert.is(await runCli(['search', 'quorble'], context), exitCodes.cancelled, output);
    assert.match(output, /`svc vault-health repair`/);
    const health = await svc('vault-health');
    assert.is(health.code, exitCodes.internal);
    assert.match(health.stdout, /broken[^]*files has not been read again yet/);
    assert.match((await svc('search', 'quorble')).stdout, /gate\.md/);
    assert.is((await svc('vault-health')).code, 0);
  });
});

test('a folder can be removed from the index even if it no longer exists', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    assert.is((await svc('index', '--forget')).code, exitCodes.usage);
    const part = await svc('index', 'files/src', '--forget');
    assert.is(part.code, exitCodes.not_found);
    assert.match(part.stderr, /part of [^]*\.gitignore/);
    rmSync(join(place.folder, 'files'), { recursive: true });
    const gone = await svc('index', 'files');
    assert.is(gone.code, exitCodes.not_found);
    assert.match(gone.stderr, /svc index --forget/);
    assert.match((await svc('search', 'flumbrick')).stdout, /gate\.md/);
    const forgotten = json((await svc('index', 'files', '--forget', '--json')).stdout);
    const roots = [join(place.folder, 'files')];
    assert.equal(forgotten, { roots, files: 5, remaining: [] });
    assert.is((await svc('search', 'flumbrick')).code, exitCodes.not_found);
    assert.not.match(readFileSync(logOf(place), 'utf8'), /flumbrick/);
    const status = json((await svc('index', '--status', '--json')).stdout);
    assert.equal([status['files'], status['roots']], [0, []]);
    assert.is((await svc('index', 'files', '--forget')).code, exitCodes.not_found);
  });
});

test('removing a folder mentions the copies of its text that remain', async () => {
  await withFiles(async (place, svc) => {
    await svc('index', 'files', '-w', '1');
    const sent = join(place.home, 'decisions.jsonl');
    writeFileSync(sent, '["inject:1","the flumbrick gate"]\n');
    const aside = join(place.home, '.index', 'blocks.jsonl.corrupt-2026');
    writeFileSync(aside, 'flumbrick');
    const { stdout, stderr } = await svc('index', 'files', '--forget');
    assert.match(stdout, /Took 5 files of ~\/files out/);
    assert.match(stderr, /may still hold [^]*blocks\.jsonl\.corrupt-2026[^]*decisions\.jsonl/);
  });
});

test.run();
