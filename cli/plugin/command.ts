/**
 * `svc plugin new|list|test|bench`: tools for writing plugins, and a list of the configured ones.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { JsonCommand, SvcCommand } from '../command.ts';
import { SvcError } from '../../engine/error.ts';
import { roundedMs } from '../../stages/ledger/figures.ts';
import { configInUse } from '../parse/config-in-use.ts';
import { toWhole } from '../parse/flags.ts';
import { settingsOf } from '../parse/typed-plugins.ts';
import { isTerminal } from '../screen/output.ts';
import { configurationOf, scaffold } from './scaffold.ts';

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

class New extends SvcCommand {
  static override paths = [['plugin', 'new']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Write a new plugin that works, with a test that passes',
    examples: [
      ['In the folder ./word-count', '$0 plugin new word-count'],
      ['Elsewhere', '$0 plugin new word-count --folder ~/my-plugins'],
    ],
  });

  name = Option.String({ name: 'name' });
  folder = Option.String('--folder', { description: 'Where the files go; ./<name>' });

  execute() {
    const { context, name } = this;
    if (!NAME.test(name))
      throw new SvcError('usage', `${JSON.stringify(name)} cannot be a plugin's name`, {
        cure: 'Names consist of lower-case letters, digits, - and _, such as word-count.',
      });
    const folder = resolve(context.cwd, this.folder ?? name);
    const files = [...scaffold(name)].map(([file, text]) => [join(folder, file), text] as const);
    const taken = files.find(([file]) => existsSync(file));
    if (taken !== undefined)
      throw new SvcError('conflict', `${taken[0]} already exists; nothing was written`, {
        cure: 'Take another name, or another --folder.',
      });
    mkdirSync(folder, { recursive: true });
    // Plugins that others may write to are refused, so the mode must not depend on the umask.
    for (const [file, text] of files) writeFileSync(file, text, { mode: 0o644, flag: 'wx' });
    const { bold, dim } = this.colors;
    const shortPath = (file: string) => relative(context.cwd, file) || file;
    for (const [file] of files) this.print(`wrote ${shortPath(file)}`);
    const [[module] = ['']] = files;
    this.print();
    this.print(bold('Test it'));
    this.print(`  ${context.program} plugin test ${shortPath(module)}`);
    this.print();
    this.print(bold('Use it: in config.yaml'));
    for (const line of configurationOf(module).trimEnd().split('\n')) this.print(`  ${line}`);
    this.print(dim(`then \`${context.program} config reload\``));
    return Promise.resolve();
  }
}

class Test extends SvcCommand {
  static override paths = [['plugin', 'test']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: "Run a plugin's tests against the real proxy",
    details:
      "Runs the .test.mjs files beside the module with Node's own test runner. `svc/testing` starts the proxy with the plugin in front of a provider on this machine; nothing is sent anywhere. The exit code is the runner's.",
    examples: [
      ['The tests next to a module', '$0 plugin test word-count/word-count.mjs'],
      ['All tests of a folder', '$0 plugin test ./word-count'],
    ],
  });

  tested = Option.String({ name: 'file|folder' });

  async execute() {
    const { runTests, testFiles } = await import('./run-tests.ts');
    return runTests(testFiles(resolve(this.context.cwd, this.tested)), this.context);
  }
}

const shownMs = ({ ms, plusMinusMs }: { ms: number; plusMinusMs: number }): string =>
  `${ms.toFixed(3)} ± ${plusMinusMs.toFixed(3)}`;

class Bench extends JsonCommand {
  static override paths = [['plugin', 'bench']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'Measure the time that a plugin adds to a request',
    details:
      'Sends the same requests of 2,000 words through a proxy with the plugin and one without, alternating, whole and streamed; both run on this machine with a built-in provider.',
    examples: [
      ['A module', '$0 plugin bench word-count/word-count.mjs'],
      ['With its settings', '$0 plugin bench footer.mjs --settings "{text: checked}"'],
    ],
  });

  module = Option.String({ name: 'file' });
  settings = Option.String('--settings', {
    description: 'The plugin’s `config`, as YAML or JSON',
  });
  requests = Option.String('--requests', '200', { description: 'Requests per round (200)' });

  async execute() {
    const { context } = this;
    const requests = toWhole(this.requests, '--requests', 10, 10_000);
    const module = resolve(context.cwd, this.module);
    const { benchPlugin } = await import('./bench.ts');
    const showsProgress = isTerminal(context.stderr) && !this.json;
    const cost = await benchPlugin(
      module,
      this.settings === undefined ? {} : { config: await settingsOf(this.settings) },
      requests,
      (done, of) => showsProgress && context.stderr.write(`\r${done} of ${of} rounds\u001b[K`),
    );
    if (showsProgress) context.stderr.write('\r\u001b[K');
    const rows = (['whole', 'streamed'] as const).map((kind) => ({ kind, ...cost[kind] }));
    if (this.json) {
      const fields = rows.map(({ kind, p50, p95 }) => [
        kind,
        {
          added_ms_p50: roundedMs(p50.ms),
          added_ms_p50_plus_minus: roundedMs(p50.plusMinusMs),
          added_ms_p95: roundedMs(p95.ms),
          added_ms_p95_plus_minus: roundedMs(p95.plusMinusMs),
        },
      ]);
      return this.printJson({ module, requests, ...Object.fromEntries(fields) });
    }
    this.printTable(
      ['answers', '>added ms, median', '>p95'],
      rows.map(({ kind, p50, p95 }) => [kind, shownMs(p50), shownMs(p95)]),
    );
    this.note(
      '± is the variation between rounds; smaller differences are noise. More --requests reduce it.',
    );
  }
}

class List extends JsonCommand {
  static override paths = [['plugin', 'list']];
  static override usage = Command.Usage({
    category: 'Extend',
    description: 'The configured plugins and what each provides',
    details: 'Loads each module as the proxy would. The exit code is 1 if one cannot be loaded.',
    examples: [
      ['As a table', '$0 plugin list'],
      ['For a script', '$0 plugin list --json'],
    ],
  });

  config = Option.String('--config', { description: 'Config file' });

  async execute() {
    const { context } = this;
    const { config } = await configInUse(this.config, context);
    const { listPlugins } = await import('./list.ts');
    const listed = await listPlugins(config, context.clock);
    if (this.json) this.printJson({ plugins: listed });
    else if (listed.length === 0)
      this.note(`No plugin is configured; \`${context.program} plugin new\` writes one.`);
    else {
      this.printTable(
        ['name', 'module', 'provides'],
        listed.map(({ name, module, brings, fault }) => [
          name ?? basename(module),
          module,
          fault === null
            ? brings.join(', ')
            : `cannot be loaded: ${fault.replaceAll(module, basename(module))}`,
        ]),
      );
    }
    return listed.some(({ fault }) => fault !== null) ? 1 : 0;
  }
}

export const commands = [New, List, Test, Bench];
