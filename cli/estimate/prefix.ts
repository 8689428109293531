/** `svc savings --prefix`: unused tools, their cost, and how to turn them off. */
import { captureFolder } from '../../stages/captures/files.ts';
import { toUsd } from '../../stages/ledger/figures.ts';
import type { PrefixReport, ToolCost } from '../../server/estimate/prefix.ts';
import { homeOf } from '../context.ts';
import type { CliContext } from '../context.ts';
import { colorsFor, counted, dollars, figure, print, printJson } from '../screen/output.ts';
import { printTable } from '../screen/table.ts';
import { followed, noteFailed, sessionsIn, settingsOf } from './sessions.ts';
import type { SessionFlags } from './sessions.ts';

/** A month. */
const SPAN_MS = 30 * 86_400_000;
/** Tools listed at most. */
const MAX_LISTED = 40;
const HEADER = [
  'client',
  'tool',
  '>tokens',
  '>sessions',
  '>never called in',
  '>requests',
  '>cost',
  '>cost where never called',
];

/** Features of Codex, and their tools. */
const CODEX_FEATURES: Readonly<Record<string, readonly string[]>> = {
  goals: ['get_goal', 'create_goal', 'update_goal'],
  multi_agent: ['multi_agent_v1'],
};

/** How each client's user turns tools off; tested with the clients themselves. */
const HOW_OFF: Readonly<Record<string, (tools: readonly string[]) => string | undefined>> = {
  codex: (tools) => {
    const features = Object.entries(CODEX_FEATURES).filter(([, names]) =>
      names.some((name) => tools.includes(name)),
    );
    const lines = features.map(([feature]) => `${feature} = false`);
    return lines.length === 0
      ? undefined
      : `~/.codex/config.toml, below [features]: ${lines.join(', ')}`;
  },
  'claude-code': (tools) =>
    `~/.claude/settings.json: { "permissions": { "deny": ${JSON.stringify(tools)} } }`,
  'gemini-cli': (tools) =>
    `~/.gemini/settings.json: { "tools": { "exclude": ${JSON.stringify(tools)} } }`,
  opencode: (tools) =>
    `opencode.json: { "tools": ${JSON.stringify(Object.fromEntries(tools.map((name) => [name, false])))} }`,
};

export interface PrefixFlags extends SessionFlags {
  /** Start of the period; default 30 days ago. Milliseconds since the epoch. */
  readonly sinceMs: number | undefined;
}

/** Prints the report. */
export async function prefix(flags: PrefixFlags, context: CliContext): Promise<void> {
  const [{ createPrefixReport }, { createCounters }, { readFolders }, { readCaptures }] =
    await Promise.all([
      import('../../server/estimate/prefix.ts'),
      import('../../server/estimate/counters.ts'),
      import('../../server/sessions/read-folders.ts'),
      import('../../stages/captures/decode.ts'),
    ]);
  const { prices, maxTimeMs } = await settingsOf(flags, context);
  const nowMs = context.clock.wallMs();
  const sinceMs = flags.sinceMs ?? nowMs - SPAN_MS;
  const report = createPrefixReport({ prices, sinceMs, nowMs, counterFor: createCounters() });
  const folders = await sessionsIn(flags, context);
  const { failed, files, left } = await followed(context, (progress) =>
    readFolders({ folders, clock: context.clock, maxTimeMs, progress }, (conversation) =>
      report.takeConversation(conversation),
    ),
  );
  const captures =
    flags.folder === undefined ? readCaptures(captureFolder(homeOf(context))).records : [];
  for (const record of captures) await report.takeCapture(record);
  const made = report.end();
  if (flags.json)
    return printJson(context, {
      since: new Date(sinceMs).toISOString(),
      files,
      files_failed: failed,
      files_left: left,
      captures: captures.length,
      ...prefixJson(made),
    });
  noteFailed(context, failed);
  await printPrefix(context, made, { sinceMs, files, left, captures: captures.length });
}

async function printPrefix(
  context: CliContext,
  { tools, ...report }: PrefixReport,
  from: { sinceMs: number; files: number; left: number; captures: number },
): Promise<void> {
  const colors = colorsFor(context.stdout, context.env);
  const day = new Date(from.sinceMs).toISOString().slice(0, 10);
  print(context, colors.bold(`Tools in the prefix of requests since ${day}`));
  print(context);
  if (tools.length > 0) {
    printTable(context, HEADER, tools.slice(0, MAX_LISTED).map(row));
    if (tools.length > MAX_LISTED)
      print(context, `and ${counted(tools.length - MAX_LISTED, 'tool')} more (--json has all)`);
    print(context);
  }
  for (const line of offLines(tools)) print(context, line);
  const sources = `${counted(from.files, 'session file')} and ${counted(from.captures, 'capture')}`;
  const lines = [
    `From ${sources}: ${counted(report.requests, 'request')} of ${counted(report.sessions, 'session')} with tool definitions. The ledger keeps none.`,
    ...(tools.length > 0
      ? [
          'A definition costs what the provider counted for the first tokens of each request: mostly read from its cache. Sizes are counted by a public tokenizer.',
        ]
      : [
          'Nothing to show yet: name a folder with session files (`svc savings --prefix DIR`), or set `capture.enabled: true`, which records what goes through svc.',
        ]),
    ...(report.withoutTools > 0
      ? [
          `${counted(report.withoutTools, 'conversation')} without tool definitions: Gemini CLI, OpenCode and older versions of Claude Code and Codex do not write them. \`capture.enabled: true\` records what goes through svc.`,
        ]
      : []),
    ...(report.unpriced > 0
      ? [
          `${counted(report.unpriced, 'request')} without the provider's count or a known price are in no cost.`,
        ]
      : []),
    ...(from.left > 0 ? [`${counted(from.left, 'older file')} not read: the time was up.`] : []),
  ];
  for (const line of lines) print(context, `${colors.dim('–')} ${line}`);
}

function row(tool: ToolCost): string[] {
  return [
    tool.client,
    tool.name,
    figure(tool.tokens),
    figure(tool.sessions),
    figure(tool.sessions - tool.calledIn),
    figure(tool.requests),
    dollars(toUsd<number | null>(tool.costNanoUsd)),
    dollars(toUsd<number | null>(tool.unusedNanoUsd)),
  ];
}

/** Describes how to turn off tools that no session called, for clients where that is known. */
function offLines(tools: readonly ToolCost[]): string[] {
  const clients = [...new Set(tools.map(({ client }) => client))];
  return clients.flatMap((client) => {
    const unused = tools.filter((tool) => tool.client === client && tool.calledIn === 0);
    const names = unused.map(({ name }) => name);
    const how = names.length === 0 ? undefined : HOW_OFF[client]?.(names);
    if (how === undefined) return [];
    const isMcp = names.some((name) => name.startsWith('mcp__'));
    return [
      `Never called in ${client}; to turn off what you do not need:`,
      `  ${how}`,
      ...(isMcp
        ? ['  Names that begin with mcp__ belong to an MCP server that can be removed.']
        : []),
      '',
    ];
  });
}

function prefixJson({ tools, sessions, requests, unpriced, withoutTools }: PrefixReport) {
  return {
    sessions,
    requests,
    requests_unpriced: unpriced,
    conversations_without_tools: withoutTools,
    tools: tools.map((tool) => ({
      client: tool.client,
      name: tool.name,
      tokens: tool.tokens,
      sessions: tool.sessions,
      sessions_called: tool.calledIn,
      requests: tool.requests,
      cost_usd: toUsd<number | null>(tool.costNanoUsd),
      cost_never_called_usd: toUsd<number | null>(tool.unusedNanoUsd),
    })),
  };
}
