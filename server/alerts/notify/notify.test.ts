/** Webhook bodies, invalid targets, and the order and number of delivery attempts. */
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createManualClock, systemClock } from '../../../engine/index.ts';
import { expectOneFaultEach, loadText } from '../../../fixtures/server/config-text.ts';
import type { BadCase } from '../../../fixtures/server/config-text.ts';
import type { AlertResult } from '../evaluate.ts';
import { createNotifier } from './notifier.ts';
import { noticeBody, toNotice } from './notice.ts';
import { targetName, targetSecrets, templateOf } from './targets.ts';
import type { NotifyTarget } from './targets.ts';

const URL_OF_HOOK = 'https://hooks.example.com/services/T0/B0/secret';

function resultWith(notify: readonly NotifyTarget[], name = 'down'): AlertResult {
  return {
    rule: {
      name,
      metric: 'unhealthy_providers',
      above: 0,
      below: null,
      windowMs: 1,
      message: '<!channel> & @everyone',
      cooldownMs: 1,
      notify,
    },
    value: 1,
    failure: undefined,
    isFiring: true,
    sinceMs: Date.UTC(2026, 0, 1),
    news: 'begun',
  };
}

const hook: NotifyTarget = { kind: 'webhook', url: URL_OF_HOOK, template: 'json', secret: null };

test('every message format contains the text, and none can mention a whole channel', () => {
  const notice = toNotice(resultWith([]), 'firing', { id: 'alert_1', nowMs: 0 });
  const text = 'svc alert: down: unhealthy_providers is 1, fires above 0: <!channel> & @everyone';
  assert.equal(JSON.parse(noticeBody(notice, 'slack')), {
    text: text.replace('<!channel> & @everyone', '&lt;!channel&gt; &amp; @everyone'),
  });
  assert.equal(JSON.parse(noticeBody(notice, 'discord')), {
    content: text,
    allowed_mentions: { parse: [] },
  });
  assert.equal(JSON.parse(noticeBody(notice, 'json')), { ...notice, text });
  const long = { ...notice, text: 'x'.repeat(5000) };
  assert.ok(JSON.parse(noticeBody(long, 'discord')).content.length <= 2000);
});

test('the format follows from the host, and only the host or the program of a target is shown', () => {
  assert.is(templateOf('https://hooks.slack.com/services/T/B/x'), 'slack');
  assert.is(templateOf('https://discord.com/api/webhooks/1/x'), 'discord');
  assert.is(templateOf('https://discord.com/api/webhooks/1/x/slack'), 'json');
  assert.is(templateOf('https://notslack.com/x'), 'json');
  assert.is(targetName(hook), 'webhook hooks.example.com');
  assert.is(targetName({ kind: 'command', argv: ['/opt/bin/page.sh', 'x'] }), 'command page.sh');
  assert.ok(targetSecrets(hook).includes('/services/T0/B0/secret'));
});

test('refuses an invalid target without quoting its address', async () => {
  const rule = (notify: string) =>
    `alerts: [{ name: a, when: { metric: errors, above: 1 }, notify: ${notify} }]`;
  const cases: BadCase[] = [
    [{ file: rule('{}') }, 'alerts: "a": notify: expected a webhook or a command'],
    [{ file: rule('{ command: [] }') }, 'alerts: "a": notify.command: expected a program'],
    [{ file: rule('{ command: [x], secret: y }') }, 'alerts: "a": notify: template and secret'],
    [
      { file: rule("{ webhook: 'hooks secret' }") },
      'alerts: "a": notify.webhook is not a URL such as https://host/path',
    ],
    [
      { file: rule("{ webhook: 'http://192.0.2.1/secret' }") },
      'alerts: "a": notify.webhook: plain http: would send alerts to 192.0.2.1 unencrypted',
    ],
    [{ file: rule("{ webhook: '${NO_SUCH}' }") }, 'alerts: the variable NO_SUCH is not set'],
    [
      { file: rule('{ webhok: x }') },
      'alerts: found a map as item 1 (notify.webhok is unknown), expected',
    ],
  ];
  await expectOneFaultEach(cases);
  const { config } = await loadText({
    file: rule("{ webhook: '${HOOK}', command: [echo, '${HOME}'] }"),
    env: { HOOK: 'https://hooks.slack.com/services/x' },
  });
  assert.equal(config.alerts[0]?.notify, [
    {
      kind: 'webhook',
      url: 'https://hooks.slack.com/services/x',
      template: 'slack',
      secret: null,
    },
    // Variables in a command are not expanded: that is left to the shell or the program.
    { kind: 'command', argv: ['echo', '${HOME}'] },
  ]);
});

/** A receiver that fails every attempt at once, and the times of the attempts on a manual clock. */
function failing() {
  const clock = createManualClock();
  const attemptsMs: number[] = [];
  const failures: string[] = [];
  const notifier = createNotifier({
    upstream: {
      send() {
        attemptsMs.push(clock.monotonicMs());
        return Promise.reject(Object.assign(new Error(URL_OF_HOOK), { code: 'ECONNREFUSED' }));
      },
    },
    clock,
    random: (bytes) => Buffer.alloc(bytes),
    env: {},
    home: () => '/',
    version: '0.0.0',
    onFailure: (text) => failures.push(text),
  });
  /** Lets all pending work run. */
  const settle = async () => {
    for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
  };
  return { clock, attemptsMs, failures, notifier, settle };
}

test('retries at growing intervals, then gives up and reports it without the address', async () => {
  const { clock, attemptsMs, failures, notifier, settle } = failing();
  notifier.notify([resultWith([hook])]);
  for (let second = 0; second < 400; second += 1) {
    await settle();
    clock.advance(1000);
  }
  await notifier.idle();
  assert.equal(attemptsMs, [0, 2000, 12_000, 72_000, 372_000]);
  assert.equal(failures, [
    'down: not delivered to webhook hooks.example.com after 5 attempts: it cannot be reached (ECONNREFUSED)',
  ]);
});

test('the queue of a target is bounded, and stopping discards it', async () => {
  const { attemptsMs, failures, notifier, settle } = failing();
  for (let n = 0; n < 60; n += 1) notifier.notify([resultWith([hook], `rule ${n}`)]);
  await settle();
  assert.is(attemptsMs.length, 1);
  assert.is(failures.length, 9);
  assert.match(
    failures[0]!,
    'rule 1: left out for webhook hooks.example.com, where 50 others wait',
  );
  assert.is(notifier.stop(), 51);
  await notifier.idle();
  assert.is(attemptsMs.length, 1);
});

test('reports a command that cannot be started, and still delivers the next notice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-alert-'));
  const file = join(folder, 'file');
  writeFileSync(file, '#!/bin/sh\ntouch ran\n', { mode: 0o700 });
  symlinkSync(join(folder, 'loop'), join(folder, 'loop'));
  const failures: string[] = [];
  const notifier = createNotifier({
    upstream: { send: () => Promise.reject(new Error('no webhook')) },
    clock: systemClock,
    random: (bytes) => Buffer.alloc(bytes),
    env: { PATH: '/usr/bin:/bin' },
    home: () => folder,
    version: '0',
    onFailure: (text) => void failures.push(text),
  });
  const command = (...argv: string[]): NotifyTarget => ({ kind: 'command', argv });
  const long = { ...resultWith([command(file)], 'long').rule, message: 'x'.repeat(200_000) };
  notifier.notify([
    resultWith([command(join(file, 'below'))], 'path'),
    resultWith([command(join(folder, 'loop'))], 'loop'),
    resultWith([command(join(folder, 'none'))], 'none'),
    { ...resultWith([]), rule: long },
    resultWith([command(file)], 'last'),
  ]);
  await notifier.idle();
  assert.equal(failures.toSorted(), [
    'long: not delivered to command file: it cannot be started (E2BIG)',
    'loop: not delivered to command loop: it cannot be started (ELOOP)',
    'none: not delivered to command none: it cannot be started (ENOENT)',
    'path: not delivered to command below: it cannot be started (ENOTDIR)',
  ]);
  assert.ok(existsSync(join(folder, 'ran')));
  rmSync(folder, { recursive: true });
});

test.run();
