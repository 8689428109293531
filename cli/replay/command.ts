/**
 * `svc replay list|show|run|import|clear`: captures, and their replay with the current
 * configuration.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { JsonCommand, SvcCommand } from '../command.ts';
import type { Config } from '../../server/config/config.ts';
import { createPrivateFile } from '../../server/config/home.ts';
import { compareRecords } from '../../server/replay/compare.ts';
import type { Comparison } from '../../server/replay/compare.ts';
import { encodeRecord } from '../../stages/captures/encode.ts';
import { captureFiles, captureFolder } from '../../stages/captures/files.ts';
import type { CaptureRecord } from '../../stages/captures/record.ts';
import { configFlag, toLoadOptions, toMode } from '../parse/flags.ts';
import { PLUGIN_SETTINGS, typedPlugins } from '../parse/typed-plugins.ts';
import { localMoment } from '../../server/dashboard/page/local-time.ts';
import { counted, writeLine } from '../screen/output.ts';
import { lineDiff } from '../preview/line-diff.ts';
import { capturesIn, capturesNamed, keptCaptures } from './captures.ts';
import {
  captureJson,
  compareHeader,
  compareJson,
  compareRow,
  listHeader,
  listJson,
  listRow,
  pairsOf,
  readable,
} from './view.ts';

const HOW_ON =
  'Nothing is captured unless `capture.enabled` is true or a request has `x-svc-capture: on`. Captures hold prompts and answers, and no credentials.';

class List extends JsonCommand {
  static override paths = [['replay', 'list']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'The requests that were captured, oldest first',
    details: HOW_ON,
    examples: [['All', '$0 replay list']],
  });

  async execute() {
    const { context } = this;
    const records = keptCaptures(context);
    if (this.json) this.printJson({ captures: records.map(listJson) });
    else if (records.length === 0) {
      this.note('No capture is kept.');
      this.note(HOW_ON);
    } else {
      const nowMs = context.clock.wallMs();
      this.printTable(
        listHeader(nowMs),
        records.map((record) => listRow(record, nowMs)),
      );
    }
  }
}

class Show extends SvcCommand {
  static override paths = [['replay', 'show']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'One captured request: what was sent and answered, when',
    details: HOW_ON,
    examples: [
      ['A capture, by a part of its id', '$0 replay show TwLFV0'],
      ['Its bytes', '$0 replay show TwLFV0 --full'],
      ['As a file, for a regression test', '$0 replay show TwLFV0 --save slow-build.msgpack'],
    ],
  });

  capture = Option.String({ name: 'id' });
  full = Option.Boolean('--full', false, { description: 'Also header fields and bodies' });
  save = Option.String('--save', {
    description: 'Write the capture into this file, which must not exist',
  });
  json = Option.Boolean('--json,--raw', false, { description: 'As JSON, all of it' });

  async execute() {
    const { context } = this;
    const records = await capturesNamed([this.capture], context);
    if (this.save !== undefined) {
      const bytes = Buffer.concat(records.map((record) => encodeRecord(record)));
      const path = resolve(context.cwd, this.save);
      createPrivateFile(path, bytes);
      return this.note(`${counted(records.length, 'capture')} written to ${path}`);
    }
    if (this.json) return this.printJson({ captures: records.map(captureJson) });
    for (const [index, record] of records.entries()) {
      if (index > 0) this.print();
      this.show(record);
    }
  }

  private show({ id, startedMs, request, attempts, answer, row }: CaptureRecord): void {
    const { colors } = this;
    const ms = (value: number) => `${value.toFixed(1)} ms`;
    const rows: (readonly [string, string])[] = [
      ['Time', localMoment(new Date(startedMs).toISOString())],
      ['Request', `${request.method} ${request.target}, ${request.body.length} bytes`],
      ['Model', row.model ?? '–'],
      ['Session', row.sessionId ?? '–'],
      ['Outcome', row.outcome],
    ];
    for (const attempt of attempts) {
      const { response } = attempt;
      const came =
        response === null
          ? (attempt.failure?.message ?? 'no answer')
          : `${response.status} after ${ms(response.headMs - attempt.startedMs)}, ${response.body.bytes.length} bytes in ${counted(response.body.sizes.length, 'piece')}, ${response.end} at ${ms(response.endMs)}`;
      rows.push([
        `Attempt ${attempt.attempt}`,
        `${attempt.provider}, ${attempt.body?.length ?? 0} bytes at ${ms(attempt.startedMs)}: ${came}`,
      ]);
    }
    const status = answer.head?.status ?? answer.failure?.message ?? '–';
    rows.push([
      'Answer',
      `${status}, ${answer.body.bytes.length} bytes, ${answer.end} at ${ms(answer.endMs)}`,
    ]);
    this.print(colors.bold(id));
    this.printPairs(rows);
    if (!this.full) return;
    const part = (title: string, headers: readonly string[], bytes: Uint8Array | null) => {
      this.print();
      this.print(colors.bold(title));
      for (const [name, value] of pairsOf(headers)) this.print(`${colors.dim(name)} ${value}`);
      for (const line of readable(bytes).split('\n')) writeLine(this.context.stdout, line);
    };
    part('Request', request.headers, request.body);
    for (const { attempt, headers, body, response } of attempts) {
      part(`Request of attempt ${attempt}`, headers, body);
      if (response !== null)
        part(`Response of attempt ${attempt}`, response.headers, response.body.bytes);
    }
    part('Answer', answer.head?.headers ?? [], answer.body.bytes);
  }
}

class Run extends JsonCommand {
  static override paths = [['replay', 'run']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Send captured requests again; show what changes',
    details:
      'Runs the configured graph with its plugins, and the recording in place of the providers: nothing leaves this machine, and no key is needed. Names are request ids, session ids or files: captures, HAR, sessions of Claude Code. Input tokens that differ are estimated. Rate limits, spending limits and the response cache are off; times are shown but do not count as differences.',
    examples: [
      ['Everything that is kept', '$0 replay run'],
      ['One request, with what changes in it', '$0 replay run TwLFV0 --mode aggressive'],
      ['A regression test: exit code 1 on any difference', '$0 replay run tests/*.msgpack --check'],
      ['A session of Claude Code', '$0 replay run ~/.claude/projects/app/0c1f.jsonl'],
      ['With a plugin that is not configured', '$0 replay run --plugin ./redact.mjs'],
      ['What a recipe would change', '$0 replay run --recipe ./my-tool.yaml'],
    ],
  });

  names = Option.Rest({ name: 'id or file' });
  config = Option.String('--config', {
    description: 'Config file, in place of ./proxy.yaml and ~/.svc/config.yaml',
  });
  mode = Option.String('--mode', {
    description: 'Compression mode, in place of the configured and the requested one',
  });
  plugin = Option.Array('--plugin', [], {
    description: 'A plugin in addition to the configured ones',
  });
  settings = Option.Array('--settings', [], { description: PLUGIN_SETTINGS });
  recipe = Option.Array('--recipe', [], {
    description: 'A recipe, or a folder of recipes, in addition to the configured ones',
  });
  check = Option.Boolean('--check', false, { description: 'Exit code 1 if anything differs' });
  full = Option.Boolean('--full', false, { description: 'Every changed line' });

  async execute() {
    const { context } = this;
    const records = await capturesNamed(this.names, context);
    const startedMs = context.clock.monotonicMs();
    const { comparisons, replayed } = await this.replay(records);
    const tookMs = context.clock.monotonicMs() - startedMs;
    const different = comparisons.filter(({ differences }) => differences.length > 0);
    const code = this.check && different.length > 0 ? 1 : 0;
    if (this.json) {
      this.printJson({
        replayed: comparisons.length,
        different: different.length,
        duration_ms: Math.round(tookMs),
        captures: comparisons.map(compareJson),
      });
      return code;
    }
    await this.printDifferences(records, replayed, comparisons);
    const same = comparisons.length - different.length;
    const took = `${(tookMs / 1000).toFixed(1)} s`;
    this.print(
      `${counted(comparisons.length, 'request')} replayed in ${took}: ${same} the same, ${different.length} different`,
    );
    return code;
  }

  private async replay(records: readonly CaptureRecord[]) {
    const { context } = this;
    const [{ loadConfig }, { openReplay }] = await Promise.all([
      import('../../server/config/load.ts'),
      import('../../server/replay/session.ts'),
    ]);
    const options = toLoadOptions(configFlag(this.config), context);
    const { config } = await loadConfig({
      ...options,
      flags: {
        ...options.flags,
        ...(this.mode !== undefined && { 'compression.mode': await toMode(this.mode) }),
      },
    });
    const scratch = mkdtempSync(join(tmpdir(), 'svc-replay-'));
    try {
      const replay = await openReplay({
        config: await this.withMore(config),
        scratch,
        env: context.env,
        ignoresMode: this.mode !== undefined,
      });
      try {
        for (const warning of replay.warnings) this.note(`! ${warning}`);
        const replayed: CaptureRecord[] = [];
        const comparisons: Comparison[] = [];
        for (const record of records) {
          const now = await replay.run(record);
          comparisons.push(compareRecords(record, now, replay.today));
          // The bytes of many records would only fill memory.
          if (records.length === 1 || this.full) replayed.push(now);
        }
        return { comparisons, replayed };
      } finally {
        await replay.close();
      }
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }

  private async withMore(config: Config): Promise<Config> {
    const absolute = (path: string): string => resolve(this.context.cwd, path);
    const { plugins, compression } = config;
    const recipes = [...this.recipe.map(absolute), ...[compression.recipes].flat()];
    return {
      ...config,
      plugins: [...plugins, ...(await typedPlugins(this.plugin, this.settings, this.context.cwd))],
      ...(this.recipe.length > 0 && { compression: { ...compression, recipes } }),
    };
  }

  private async printDifferences(
    records: readonly CaptureRecord[],
    replayed: readonly CaptureRecord[],
    comparisons: readonly Comparison[],
  ): Promise<void> {
    const { colors } = this;
    this.printTable(
      compareHeader,
      comparisons.map((comparison) => compareRow(comparison, colors)),
    );
    for (const [index, { id, differences }] of comparisons.entries()) {
      const now = replayed[index];
      if (differences.length === 0 || (now === undefined && comparisons.length > 1)) continue;
      this.print();
      this.print(colors.bold(id));
      for (const { what, recorded, replayed: is } of differences)
        this.print(`  ${colors.dim(what)}  ${recorded} → ${is}`);
      if (now !== undefined) this.printBytes(records[index]!, now);
    }
    this.print();
  }

  /** Prints the changed bytes: of the first upstream request, and of the response. */
  private printBytes(then: CaptureRecord, now: CaptureRecord): void {
    const { colors } = this;
    const diff = (title: string, before: Uint8Array | null, after: Uint8Array | null) => {
      const lines = lineDiff(readable(before), readable(after), { colors, full: this.full });
      if (lines.length === 0) return;
      this.print();
      this.print(colors.bold(title));
      for (const line of lines) writeLine(this.context.stdout, line);
    };
    diff('Request upstream', then.attempts[0]?.body ?? null, now.attempts[0]?.body ?? null);
    diff('Answer', then.answer.body.bytes, now.answer.body.bytes);
  }
}

class Import extends SvcCommand {
  static override paths = [['replay', 'import']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Make captures of a HAR file or a Claude Code session',
    details:
      '`svc replay run` also reads such files directly; a capture does not contain their credentials.',
    examples: [['A HAR file', '$0 replay import traffic.har traffic.msgpack']],
  });

  from = Option.String({ name: 'file' });
  to = Option.String({ name: 'captures' });

  async execute() {
    const { context } = this;
    const records = await capturesIn(resolve(context.cwd, this.from), context);
    const path = resolve(context.cwd, this.to);
    createPrivateFile(path, Buffer.concat(records.map((record) => encodeRecord(record))));
    this.note(`${counted(records.length, 'capture')} written to ${path}`);
  }
}

class Clear extends SvcCommand {
  static override paths = [['replay', 'clear']];
  static override usage = Command.Usage({
    category: 'Look',
    description: 'Delete all captures',
    examples: [['All', '$0 replay clear']],
  });

  async execute() {
    const files = captureFiles(captureFolder(this.home));
    for (const { path } of files) rmSync(path, { force: true });
    const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    this.print(`${counted(files.length, 'file')} of captures deleted, ${sizeBytes} bytes`);
  }
}

export const commands = [List, Show, Run, Import, Clear];
