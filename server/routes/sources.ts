/** The services that our own routes read from. */
import type { App } from '../app.ts';
import type { LedgerQuestions } from '../control/ledger-questions.ts';
import type { VaultFacts } from '../facts/vault-facts.ts';
import type { Generations } from '../generation/generation.ts';
import type { ServerServices } from '../services.ts';

export interface RouteSources {
  readonly version: string;
  readonly services: ServerServices;
  readonly generations: Generations;
  /** The app that the routes belong to. */
  readonly app: () => App;
  /** Queries the ledger once the newest requests have been written to it. */
  readonly ask: LedgerQuestions['ask'];
  readonly vault: () => Promise<VaultFacts>;
}
