/** `svc report --month`: one file that can be forwarded. */
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NOW, clock, dayOf, rows, sum, withReports } from '../../fixtures/cli/reports.ts';
import type { Json } from '../../fixtures/cli/reports.ts';
import { openIn } from '../../fixtures/ledger/temp-ledger.ts';
import { makePlace, run } from '../../fixtures/cli/run.ts';
import { isFailure, ledgerRow } from '../../stages/ledger/row.ts';

/** Returns the fields of CSV, by RFC 4180. */
function readCsv(text: string): string[][] {
  return text
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
}

test('a month: every line of the CSV and every sum of the page equals a recount of the rows', () =>
  withReports(async (place) => {
    const of = (argv: readonly string[]) =>
      run(place, ['report', '--month', '2026-11', ...argv], { clock });
    const month = rows.filter((row) => dayOf(row).startsWith('2026-11'));
    const { code, stdout } = await of(['--by', 'project', '--csv']);
    assert.is(code, 0);
    const [head = [], ...lines] = readCsv(stdout);
    assert.equal(head.slice(0, 4), ['date', 'project', 'model', 'requests']);
    const seen = new Set<string>();
    for (const line of lines) {
      const at = (name: string) => line[head.indexOf(name)] ?? '?';
      const own = month.filter(
        (row) =>
          dayOf(row) === at('date') &&
          (row.project ?? 'unknown') === at('project') &&
          (row.model ?? 'unknown') === at('model'),
      );
      seen.add(line.slice(0, 3).join());
      assert.is(Number(at('requests')), own.length, line.join());
      assert.is(Number(at('errors')), own.filter(isFailure).length);
      assert.is(
        Number(at('saved_tokens')),
        sum(own, (row) => row.savedTokens),
      );
      // Exact to the nano-dollar.
      assert.is(
        Math.round(Number(at('cost_usd')) * 1e9),
        sum(own, (row) => row.costNanoUsd),
      );
    }
    assert.is(seen.size, lines.length);
    assert.is(
      lines.reduce((all, line) => all + Number(line[3]), 0),
      month.length,
    );
    const page = (await of(['--by', 'project', '--html'])).stdout;
    const cost = month.reduce((all, row) => all + (row.costNanoUsd ?? 0), 0) / 1e9;
    assert.match(page, `<dt>Cost</dt><dd>$${cost.toFixed(cost >= 1 ? 2 : 4)}</dd>`);
    assert.match(page, `<dt>Requests</dt><dd>${month.length.toLocaleString('en-US')}</dd>`);
    for (const project of ['shop', 'web', 'unknown']) assert.match(page, `<td>${project}</td>`);
    assert.match(page, 'The month is not over: up to 2026-11-20 15:30 UTC.');
    const days = [...page.matchAll(/<td>(2026-11-\d\d)<\/td>/g)].map(([, day]) => day);
    assert.is(days.length, 20);
    assert.is(
      (await of(['--by', 'project', '--html'])).stdout,
      page,
      'the second run prints the same',
    );
    const json_ = JSON.parse((await of(['--by', 'key', '--json'])).stdout) as Json;
    assert.is((json_['totals'] as Json)['requests'], month.length);
    const keys = (json_['by_key'] as Json[]).map(({ key }) => key);
    assert.equal(new Set(keys), new Set(['anna', 'ci', null]));
  }));

test('the page of a month loads nothing from elsewhere, and escapes names', async () => {
  const place = makePlace();
  try {
    const { writer } = openIn(place.folder, { file: join(place.home, 'monitor.db') });
    const names = ['<script>alert(1)</script>', '=HYPERLINK("http://x")', 'a,"b"\n\u202ec'];
    names.forEach((name, n) =>
      writer.record(
        ledgerRow({
          id: `req_hostile_${n}`,
          startedMs: NOW,
          endpoint: '/v1/messages',
          outcome: 'ok',
          model: name,
          project: name,
          costNanoUsd: 1_234_567_891,
        }),
      ),
    );
    await writer.close();
    const of = async (form: string) =>
      (await run(place, ['report', '--month', '2026-11', '--by', 'project', form], { clock }))
        .stdout;
    const page = await of('--html');
    assert.not.match(page, /<script|<link|<img|<iframe|<a |@import|url\(|\bon\w+=|javascript:/i);
    assert.not.match(page.replaceAll('http://x', ''), /https?:/);
    assert.match(page, '&lt;script&gt;alert(1)&lt;/script&gt;');
    assert.not.match(page, '\u202e');
    assert.match(page, "default-src 'none'");
    const csv = await of('--csv');
    assert.match(csv, `,"'=HYPERLINK(""http://x"")",`);
    assert.match(csv, ',1.234567891,');
  } finally {
    place.dispose();
  }
});

test.run();
