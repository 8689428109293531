/**
 * Which file holds which commands. Only the file whose first word was typed is
 * loaded, so that a small command does not pay for the large ones.
 */
import type { CliCommand } from '../context.ts';

/** Commands that lie in one file, by their first words. */
export interface CommandGroup {
  readonly words: readonly string[];
  readonly load: () => Promise<readonly CliCommand[]>;
}

export const commandGroups: readonly CommandGroup[] = [
  {
    words: ['serve'],
    load: async () => (await import('../commands/serve.ts')).serveCommands,
  },
  {
    words: ['start', 'stop', 'restart'],
    load: async () => (await import('../commands/start.ts')).startCommands,
  },
  {
    words: ['status', 'version', 'debug', 'pause', 'resume'],
    load: async () => (await import('../commands/status.ts')).statusCommands,
  },
  {
    words: ['logs'],
    load: async () => (await import('../commands/logs.ts')).logsCommands,
  },
  {
    words: ['config', 'validate-config'],
    load: async () => (await import('../commands/config.ts')).configCommands,
  },
  {
    words: ['auth'],
    load: async () => (await import('../commands/auth.ts')).authCommands,
  },
  {
    words: ['check-alerts'],
    load: async () => (await import('../commands/alerts.ts')).alertCommands,
  },
  {
    words: ['plugin'],
    load: async () => (await import('../plugin/command.ts')).pluginCommands,
  },
  {
    words: ['recipe'],
    load: async () => (await import('../recipe/command.ts')).recipeCommands,
  },
  {
    words: ['macro'],
    load: async () => (await import('../macro/command.ts')).macroCommands,
  },
  {
    words: ['graph'],
    load: async () => (await import('../graph/command.ts')).graphCommands,
  },
  {
    words: ['template'],
    load: async () => (await import('../template/command.ts')).templateCommands,
  },
  {
    words: ['audit'],
    load: async () => (await import('../commands/audit.ts')).auditCommands,
  },
  {
    words: ['setup'],
    load: async () => (await import('../setup/command.ts')).setupCommands,
  },
  {
    words: ['update'],
    load: async () => (await import('../update/command.ts')).updateCommands,
  },
  {
    words: ['integrate'],
    load: async () => (await import('../integrate/command.ts')).integrateCommands,
  },
  {
    words: ['run'],
    load: async () => (await import('../session/command.ts')).runCommands,
  },
  {
    words: ['doctor'],
    load: async () => (await import('../doctor/command.ts')).doctorCommands,
  },
  {
    words: ['service', 'uninstall'],
    load: async () => (await import('../service/command.ts')).serviceCommands,
  },
  {
    words: ['completion'],
    load: async () => (await import('../completion/command.ts')).completionCommands,
  },
  {
    words: ['demo'],
    load: async () => (await import('../commands/demo.ts')).demoCommands,
  },
  {
    words: ['benchmark'],
    load: async () => (await import('../commands/benchmark.ts')).benchmarkCommands,
  },
  {
    words: ['preview', 'diff'],
    load: async () => (await import('../commands/compress.ts')).compressCommands,
  },
  {
    words: ['validate'],
    load: async () => (await import('../validate/command.ts')).validateCommands,
  },
  {
    words: ['replay'],
    load: async () => (await import('../replay/command.ts')).replayCommands,
  },
  {
    words: ['learn'],
    load: async () => (await import('../commands/learn.ts')).learnCommands,
  },
  {
    words: ['provider-status', 'provider-force-health', 'list-models'],
    load: async () => (await import('../commands/provider.ts')).providerCommands,
  },
  {
    words: ['list-pricing'],
    load: async () => (await import('../commands/pricing.ts')).pricingCommands,
  },
  {
    words: ['route'],
    load: async () => (await import('../commands/route.ts')).routeCommands,
  },
  {
    words: ['spend'],
    load: async () => (await import('../commands/spend.ts')).spendCommands,
  },
  {
    words: ['savings', 'cache-stats', 'cache-clear'],
    load: async () => (await import('../commands/savings.ts')).savingsCommands,
  },
  {
    words: ['stats', 'models', 'usage'],
    load: async () => (await import('../commands/stats.ts')).statsCommands,
  },
  {
    words: ['compare', 'leaderboard', 'report', 'attribution'],
    load: async () => (await import('../commands/reports.ts')).reportCommands,
  },
  {
    words: ['timeline', 'cost', 'cost-breakdown'],
    load: async () => (await import('../commands/costs.ts')).costCommands,
  },
  {
    words: ['dashboard'],
    load: async () => (await import('../tui/command.ts')).dashboardCommands,
  },
  {
    words: ['monitor'],
    load: async () => (await import('../monitor/command.ts')).monitorCommands,
  },
  {
    words: ['requests'],
    load: async () => (await import('../commands/requests.ts')).requestCommands,
  },
  {
    words: ['index', 'search', 'calibrate', 'vault-health', 'rebuild-vault-index'],
    load: async () => (await import('../commands/vault.ts')).vaultCommands,
  },
];

/** Whether a command begins with `word`. */
export function isFirstWord(word: string): boolean {
  return commandGroups.some(({ words }) => words.includes(word));
}

/** The commands that may be meant by `word`; all of them where it is not one of ours. */
export async function loadCommands(word: string | undefined): Promise<readonly CliCommand[]> {
  const group = commandGroups.find(({ words }) => word !== undefined && words.includes(word));
  const groups = group === undefined ? commandGroups : [group];
  return (await Promise.all(groups.map(({ load }) => load()))).flat();
}
