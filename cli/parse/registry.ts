/**
 * Which file contains which commands. Only the file for the typed first word is loaded, so that a
 * small command does not pay for the large ones.
 */
import type { CliCommand } from '../context.ts';

/** Commands in one file, by their first words. */
export interface CommandGroup {
  readonly words: readonly string[];
  readonly load: () => Promise<{ readonly commands: readonly CliCommand[] }>;
}

export const commandGroups: readonly CommandGroup[] = [
  { words: ['serve'], load: () => import('../commands/serve.ts') },
  { words: ['start', 'stop', 'restart'], load: () => import('../commands/start.ts') },
  {
    words: ['status', 'version', 'debug', 'pause', 'resume'],
    load: () => import('../commands/status.ts'),
  },
  { words: ['logs'], load: () => import('../commands/logs.ts') },
  { words: ['config', 'validate-config'], load: () => import('../commands/config.ts') },
  { words: ['auth'], load: () => import('../commands/auth.ts') },
  { words: ['ca'], load: () => import('../forward/ca-command.ts') },
  { words: ['check-alerts'], load: () => import('../commands/alerts.ts') },
  { words: ['plugin'], load: () => import('../plugin/command.ts') },
  { words: ['recipe'], load: () => import('../recipe/command.ts') },
  { words: ['macro'], load: () => import('../macro/command.ts') },
  { words: ['graph'], load: () => import('../graph/command.ts') },
  { words: ['template'], load: () => import('../template/command.ts') },
  { words: ['audit'], load: () => import('../commands/audit.ts') },
  { words: ['setup'], load: () => import('../setup/command.ts') },
  { words: ['update'], load: () => import('../update/command.ts') },
  { words: ['integrate'], load: () => import('../integrate/command.ts') },
  { words: ['run'], load: () => import('../session/command.ts') },
  { words: ['doctor'], load: () => import('../doctor/command.ts') },
  { words: ['service', 'uninstall'], load: () => import('../service/command.ts') },
  { words: ['completion'], load: () => import('../completion/command.ts') },
  { words: ['demo'], load: () => import('../commands/demo.ts') },
  { words: ['benchmark'], load: () => import('../commands/benchmark.ts') },
  { words: ['preview', 'diff'], load: () => import('../commands/compress.ts') },
  { words: ['validate'], load: () => import('../validate/command.ts') },
  { words: ['replay'], load: () => import('../replay/command.ts') },
  { words: ['learn'], load: () => import('../commands/learn.ts') },
  {
    words: ['provider-status', 'provider-force-health', 'list-models'],
    load: () => import('../commands/provider.ts'),
  },
  { words: ['mcp'], load: () => import('../mcp/command.ts') },
  { words: ['why'], load: () => import('../commands/why.ts') },
  { words: ['statusline'], load: () => import('../statusline/command.ts') },
  { words: ['limits'], load: () => import('../commands/limits.ts') },
  { words: ['list-pricing'], load: () => import('../commands/pricing.ts') },
  { words: ['fleet'], load: () => import('../fleet/command.ts') },
  { words: ['route'], load: () => import('../commands/route.ts') },
  { words: ['spend'], load: () => import('../commands/spend.ts') },
  {
    words: ['savings', 'cache-stats', 'cache-clear'],
    load: () => import('../commands/savings.ts'),
  },
  { words: ['certify'], load: () => import('../commands/certify.ts') },
  { words: ['stats', 'models', 'usage'], load: () => import('../commands/stats.ts') },
  {
    words: ['compare', 'leaderboard', 'report', 'attribution'],
    load: () => import('../commands/reports.ts'),
  },
  { words: ['timeline', 'cost', 'cost-breakdown'], load: () => import('../commands/costs.ts') },
  { words: ['export'], load: () => import('../commands/export.ts') },
  { words: ['aggregate'], load: () => import('../aggregate/command.ts') },
  { words: ['dashboard'], load: () => import('../tui/command.ts') },
  { words: ['monitor'], load: () => import('../monitor/command.ts') },
  { words: ['requests'], load: () => import('../commands/requests.ts') },
  {
    words: ['index', 'search', 'calibrate', 'vault-health', 'rebuild-vault-index'],
    load: () => import('../commands/vault.ts'),
  },
];

/** True if a command begins with `word`. */
export function isFirstWord(word: string): boolean {
  return commandGroups.some(({ words }) => words.includes(word));
}

/** Returns the commands that `word` may mean; all of them if it is unknown. */
export async function loadCommands(word: string | undefined): Promise<readonly CliCommand[]> {
  const group = commandGroups.find(({ words }) => word !== undefined && words.includes(word));
  const groups = group === undefined ? commandGroups : [group];
  return (await Promise.all(groups.map(({ load }) => load()))).flatMap(({ commands }) => commands);
}
