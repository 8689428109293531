/**
 * The corpus check of capture and replay, run by hand or by CI where the corpus lies: every recorded
 * answer and request goes through a proxy that captures, and every capture through a replay, which
 * must ask and answer with the same bytes. Prints counts and times and leaves with 1 if anything
 * differs. `SVC_CORPUS` names the corpus folder.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NO_CORPUS, openCorpus } from '../../fixtures/corpus.ts';
import type { Corpus } from '../../fixtures/corpus.ts';
import { plainRequest, post, rawAnswer } from '../../fixtures/corpus-exchange.ts';
import { startTestProxy } from '../../fixtures/proxy.ts';
import { captureFiles, captureFolder, readCaptures } from '../../stages/captures/files.ts';
import type { CaptureRecord } from '../../stages/captures/record.ts';
import { loadConfig } from '../config/load.ts';
import { compareRecords } from './compare.ts';
import { openReplay } from './session.ts';

const YAML = `security:
  rate_limit_per_minute: 1000000
capture: { enabled: true, max_mb: 2000 }
`;
const SHOWN = 20;
const NOWHERE = 'http://127.0.0.1:9';

/** Sends all of the corpus through a proxy and gives what it has captured. */
async function captureAll(corpus: Corpus): Promise<readonly CaptureRecord[]> {
  const test = await startTestProxy({ yaml: YAML });
  try {
    let sent = 0;
    for (const answer of corpus.responses()) {
      const undo = test.upstream.script(undefined, 'raw', { raw: rawAnswer(answer), times: 1 });
      await post(test, answer.path, plainRequest(answer));
      undo();
      sent += 1;
    }
    test.upstream.reset();
    for (const request of corpus.requests()) {
      await post(test, request.path, request.body);
      sent += 1;
    }
    await test.rows(sent);
    const { captures } = test.proxy.services;
    await captures.flush();
    const folder = captureFolder(dirname(test.db));
    const { records, faults } = readCaptures(folder);
    const sizeBytes = captureFiles(folder).reduce((sum, file) => sum + file.sizeBytes, 0);
    const size = `${(sizeBytes / 2 ** 20).toFixed(0)} MB`;
    process.stdout.write(
      `captured: ${records.length} of ${sent}, ${captures.dropped} dropped, ${faults.length} unreadable, ${size}\n`,
    );
    if (records.length !== sent) process.exitCode = 1;
    return records;
  } finally {
    await test.close();
  }
}

async function replayAll(records: readonly CaptureRecord[]): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'svc-replay-home-'));
  const scratch = mkdtempSync(join(tmpdir(), 'svc-replay-'));
  try {
    // As in the proxy that captured: an address of one's own is not asked to cache.
    const providers = {
      MSGPROV_BASE_URL: NOWHERE,
      CHATPROV_BASE_URL: NOWHERE,
      GENPROV_BASE_URL: NOWHERE,
    };
    const { config } = await loadConfig({ env: { SVC_HOME: home, ...providers }, cwd: home, home });
    const replay = await openReplay({ config, scratch, env: {} });
    let sameAnswers = 0;
    const wrong: string[] = [];
    const startedMs = performance.now();
    for (const record of records) {
      const compared = compareRecords(record, await replay.run(record), replay.today);
      if (compared.sameAnswer) sameAnswers += 1;
      for (const { what, recorded, replayed } of compared.differences)
        wrong.push(`${record.id} ${compared.target} ${what}: ${recorded} → ${replayed}`);
    }
    const tookMs = performance.now() - startedMs;
    await replay.close();
    for (const line of wrong.slice(0, SHOWN)) process.stdout.write(`${line.slice(0, 400)}\n`);
    const per1000S = tookMs / records.length;
    process.stdout.write(
      `replayed: ${records.length}, answers equal ${sameAnswers}, differences ${wrong.length}, ${per1000S.toFixed(1)} s for 1,000\n`,
    );
    if (wrong.length > 0) process.exitCode = 1;
  } finally {
    rmSync(home, { recursive: true });
    rmSync(scratch, { recursive: true });
  }
}

const corpus = openCorpus();
if (corpus === undefined) process.stdout.write(NO_CORPUS);
else await replayAll(await captureAll(corpus));
