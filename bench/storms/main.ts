/**
 * `npm run bench:storms`: runs each kind of overload or failure at scale, and reports which
 * requirements held.
 */
import { closeClients } from '../../fixtures/server/exchange.ts';
import { readProgramOptions, refuseOptions } from '../../fixtures/program-options.ts';
import { createProgress } from '../progress.ts';
import { currentCommit } from '../scoreboard/stored-rows.ts';
import { CROWDS } from './crowds.ts';
import { HOST } from './host.ts';
import { KILLS } from './kills.ts';
import { SERVERS } from './servers.ts';
import type { Sizes } from './storm.ts';
import { THREADS } from './threads.ts';

const USAGE = `npm run bench:storms                   every storm at full size, about two hours
npm run bench:storms -- kill idle      storms whose name has one of these words
npm run bench:storms -- --rounds 20 --seconds 5   a quick look
npm run bench:storms -- --json         one object per row, for scripts

  --rounds 1000      kills of a proxy under load; other processes are killed a tenth as often
  --acknowledged 100 milliseconds after which a row is promised; a busy machine needs 1000
  --seconds 60       how long a storm of clients, clocks or servers lasts
  --streams 1000     streams open at once
  --idle 10000       idle connections open at once

bench/README.md describes the storms. Some need Linux and root, or Debian's libfaketime, redis-server or
postgresql; without them their rows do not hold.
Exit code 0 if every row holds, 1 if one does not, 2 for a wrong command line.
`;

const STORMS = [...KILLS, ...CROWDS, ...SERVERS, ...HOST, ...THREADS];

function readOptions(args: string[]) {
  const { values, positionals: words } = readProgramOptions(USAGE, {
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '1000' },
      acknowledged: { type: 'string', default: '100' },
      seconds: { type: 'string', default: '60' },
      streams: { type: 'string', default: '1000' },
      idle: { type: 'string', default: '10000' },
      json: { type: 'boolean', default: false },
    },
  });
  const number = (name: Exclude<keyof typeof values, 'json'>): number => {
    const value = Number(values[name]);
    if (value >= 1 && value < 1e9) return value;
    return refuseOptions(USAGE, `--${name}: "${values[name]}" is not a number of at least 1`);
  };
  const sizes: Sizes = {
    rounds: number('rounds'),
    acknowledgedMs: number('acknowledged'),
    seconds: number('seconds'),
    streams: number('streams'),
    idle: number('idle'),
  };
  return { sizes, words, json: values.json };
}

async function main(args: string[]): Promise<number> {
  const { sizes, words, json } = readOptions(args);
  const storms = STORMS.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  if (storms.length === 0) {
    const names = STORMS.map(({ name }) => name).join(', ');
    refuseOptions(USAGE, `no storm is called ${words.join(' or ')}; the storms are ${names}`);
  }
  const progress = createProgress(process.stderr);
  const commit = currentCommit();
  let missed = 0;
  for (const { name: storm, run } of storms) {
    const rows = await run(sizes, (text) => progress.report(`${storm}: ${text}`)).catch(
      (thrown: unknown) => [
        { name: storm, required: 'it runs to its end', figure: String(thrown), met: false },
      ],
    );
    progress.clear();
    for (const row of rows) {
      if (!row.met) missed += 1;
      const { name, required, figure, met } = row;
      process.stdout.write(
        json
          ? `${JSON.stringify({ storm, ...row, commit })}\n`
          : `${met ? 'holds ' : 'MISSED'} ${storm}, ${name}: ${figure}\n       ${required}\n`,
      );
    }
  }
  closeClients();
  return missed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
