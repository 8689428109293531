/** Kills processes at random moments: a proxy under load, indexing, commands that edit files. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBoundClient } from '../../fixtures/server/bound-client.ts';
import { runOn } from '../../fixtures/server/kill-proxy.ts';
import { createBindingProvider } from '../../fixtures/upstream/binding.ts';
import { startUpstream } from '../../fixtures/upstream.ts';
import { pause, until } from '../../fixtures/wait.ts';
import { auditFiles } from '../../stages/audit/files.ts';
import { verifyAudit } from '../../stages/audit/verify.ts';
import { readCaptures } from '../../stages/captures/decode.ts';
import { captureFolder } from '../../stages/captures/files.ts';
import { readLedger, withSite } from './site.ts';
import type { Site } from './site.ts';
import type { Storm } from './storm.ts';
import { startTraffic } from './traffic.ts';

/** Responses before each kill. */
const ANSWERS = 250;

const proxyKills: Storm['run'] = ({ rounds, acknowledgedMs }, report) =>
  withSite(async ({ home, start }) => {
    /** Milliseconds from the end of a response to the kill, by request id. */
    const acknowledged = new Map<string, number>();
    const lostOf = (ids: ReadonlySet<string>) =>
      [...acknowledged].filter(([id]) => !ids.has(id)).map(([, ageMs]) => ageMs);
    let sent = 0;
    let faulty = 0;
    for (let round = 1; round <= rounds; round += 1) {
      const svc = await start();
      const traffic = startTraffic([svc.port]);
      await until('answers', () => traffic.ended.size >= ANSWERS);
      const stalledMs = await runOn(svc.pid, acknowledgedMs + 20 + Math.random() * 100);
      const killedMs = Date.now();
      await svc.end('SIGKILL');
      await traffic.stop();
      sent += traffic.sent;
      for (const [id, atMs] of traffic.ended)
        if (atMs <= killedMs - acknowledgedMs - stalledMs) acknowledged.set(id, killedMs - atMs);
      if (round % 50 !== 0 && round !== rounds) continue;
      const { ids, isSound } = readLedger(join(home, 'monitor.db'));
      const lost = lostOf(ids).length;
      if (!isSound) faulty += 1;
      report(`round ${round} of ${rounds}, ${acknowledged.size} acknowledged, ${lost} lost`);
    }
    const last = await start();
    await last.end();
    const { ids, twice, isSound } = readLedger(join(home, 'monitor.db'));
    const lost = lostOf(ids);
    const oldest = lost.length === 0 ? '' : ` (at most ${Math.max(...lost)} ms old)`;
    const invented = Math.max(0, ids.size - sent);
    const audit = await verifyAudit(auditFiles(home));
    const { records, faults } = readCaptures(captureFolder(home));
    const captured = new Set(records.map(({ id }) => id));
    const missed = [...acknowledged.keys()].filter((id) => !captured.has(id)).length;
    const torn = faults.filter((fault) => fault.endsWith('it was cut short')).length;
    const counts = `${acknowledged.size} answered ${acknowledgedMs} ms before ${rounds} kills`;
    return [
      {
        name: 'ledger',
        required: 'no acknowledged row lost, none twice, none invented, file sound after each kill',
        figure: `of ${counts}: ${lost.length} lost${oldest}, ${twice} twice, ${invented} invented, ${faulty} unsound`,
        met: lost.length === 0 && twice === 0 && invented === 0 && isSound && faulty === 0,
      },
      {
        name: 'audit log',
        required: 'the chain verifies to its end',
        figure: audit.fault?.text ?? `${audit.records} records verified`,
        met: audit.fault === undefined,
      },
      {
        name: 'captures',
        required: 'every file can be read, up to a record that was cut short at its end',
        figure: `${records.length} read, ${torn} files with a cut record, ${faults.length - torn} other faults; ${missed} of ${counts} missing`,
        met: faults.length === torn && records.length === captured.size,
      },
    ];
  });

/** A thinking block is bound to everything before it, so a forgotten decision would be refused. */
const conversationKills: Storm['run'] = async ({ rounds }, report) => {
  const provider = createBindingProvider();
  const upstream = await startUpstream();
  upstream.script(undefined, provider.scenario);
  return withSite(
    async ({ start }) => {
      const kills = Math.ceil(rounds / 10);
      const failures: string[] = [];
      let turns = 0;
      for (let round = 1; round <= kills; round += 1) {
        let svc = await start();
        const clients = Array.from({ length: 8 }, (_, n) => createBoundClient(`r${round}n${n}`));
        // Each round: five turns of eight conversations, with a kill in the middle of each.
        for (let turn = 0; turn < 5; turn += 1) {
          const isHit = turn % 2 === 1;
          const pendingTurns = Promise.all(
            clients.map((client) => client.turn(svc.port).catch(() => undefined)),
          );
          if (isHit) {
            await pause(Math.random() * 120);
            await svc.end('SIGKILL');
          }
          const responses = await pendingTurns;
          if (isHit) svc = await start();
          for (const [n, client] of clients.entries()) {
            const response =
              responses[n]?.whole === true && responses[n].status === 200
                ? responses[n]
                : await client.again(svc.port);
            turns += 1;
            if (response.status !== 200) failures.push(response.text);
          }
        }
        upstream.reset();
        upstream.script(undefined, provider.scenario);
        await svc.end('SIGKILL');
        report(`round ${round} of ${kills}, ${turns} turns, ${failures.length} refused`);
      }
      const { refused, dropped, matched } = provider;
      return [
        {
          name: 'memory of conversations',
          required: 'a provider that binds thinking to its prefix refuses and drops nothing',
          figure: `${3 * kills} kills, ${turns} turns, ${matched} thinking blocks returned: ${refused.length} refused, ${dropped.length} dropped, ${failures.length} other failures`,
          met: refused.length + dropped.length + failures.length === 0 && matched > turns,
        },
      ];
    },
    {
      more: 'compression: { threshold_tokens: 0, max_time_ms: 0 }',
      upstream: { port: upstream.port, close: () => upstream.close() },
    },
  );
};

/**
 * Runs a command and kills it at a random moment of `ofMs`; returns the time if it ended before.
 */
async function killCommand(site: Site, argv: readonly string[], ofMs: number): Promise<number> {
  const startMs = performance.now();
  const child = site.command(...argv);
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), ofMs);
  await exited;
  clearTimeout(timer);
  return performance.now() - startMs;
}

const commandKills: Storm['run'] = ({ rounds }, report) =>
  withSite(
    async (site) => {
      const kills = Math.ceil(rounds / 10);
      const add = (n: number): readonly string[] =>
        ['route', 'add', '--id', `r${n}`, '--model', `m${n}`].concat('--target', 'messages/x');
      const rules = (): number => {
        const text = readFileSync(join(site.home, 'routes.json'), 'utf8');
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the command
        return (JSON.parse(text) as { rules: unknown[] }).rules.length;
      };
      const wholeMs = await killCommand(site, add(0), 60_000);
      const faults: string[] = [];
      let done = 1;
      for (let round = 1; round <= kills; round += 1) {
        const forMs = wholeMs * (0.5 + 0.7 * Math.random());
        await killCommand(site, add(round), forMs);
        await killCommand(site, ['auth', '--generate', '--label', `k${round}`], forMs);
        const now = rules();
        if (now < done || now > done + 1) faults.push(`${now} rules after ${done}`);
        done = now;
        report(`${round} of ${kills}, ${done} rules written`);
      }
      for (const argv of [
        ['auth', '--generate', '--label', 'last'],
        ['auth', 'list'],
        add(kills + 1),
      ]) {
        const [code] = await once(site.command(...argv), 'exit');
        if (code !== 0) faults.push(`${argv.join(' ')}: exit code ${code}`);
      }
      const left = readdirSync(site.home).filter((name) => /(?:routes|keys).*\.\d/.test(name));
      return [
        {
          name: 'files that commands edit',
          required: 'rules and keys are as before or as after, and can be read and changed again',
          figure:
            `${2 * kills} commands killed, ${done - 1} of ${kills} rules written, ${left.length} drafts left; ${faults.length} faults ${faults.join(', ')}`.trim(),
          met: faults.length === 0 && rules() === done + 1,
        },
      ];
    },
    { more: '' },
  );

const vaultKills: Storm['run'] = ({ rounds }, report) =>
  withSite(async (site) => {
    const root = join(site.folder, 'notes');
    mkdirSync(root);
    const kills = Math.ceil(rounds / 10);
    const files = 400;
    const write = (from: number, round: number): void => {
      for (let n = from; n < files; n += 7)
        writeFileSync(
          join(root, `f${n}.md`),
          `# File ${n}\n\n${`word${n} round${round} `.repeat(300)}\n`,
        );
    };
    for (let from = 0; from < 7; from += 1) write(from, 0);
    const wholeMs = await killCommand(site, ['index', root], 120_000);
    for (let round = 1; round <= kills; round += 1) {
      write(round % 7, round);
      await killCommand(site, ['index', root], wholeMs * (0.2 + Math.random()));
      report(`index ${round} of ${kills}`);
    }
    await once(site.command('index', root), 'exit');
    const [health] = await once(site.command('vault-health'), 'exit');
    const blocks = readFileSync(join(site.home, '.index', 'blocks.jsonl'), 'utf8');
    const missing = Array.from({ length: files }, (_, n) => n).filter(
      (n) => !blocks.includes(`word${n} round`),
    );
    return [
      {
        name: 'vault index',
        required: 'the next run completes it, every record is whole',
        figure: `${kills} kills: ${missing.length} of ${files} files missing, vault-health exit code ${health}`,
        met: health === 0 && missing.length === 0 && existsSync(site.home),
      },
    ];
  });

export const KILLS: readonly Storm[] = [
  { name: 'kill-proxy', run: proxyKills },
  { name: 'kill-conversations', run: conversationKills },
  { name: 'kill-commands', run: commandKills },
  { name: 'kill-index', run: vaultKills },
];
