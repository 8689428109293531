/** What the paths that the proxy answers itself read from. */
import type { App } from '../app.ts';
import type { LedgerQuestions } from '../control/ledger-questions.ts';
import type { VaultFacts } from '../facts/vault-facts.ts';
import type { Generations } from '../generation/generation.ts';
import type { ServerServices } from '../services.ts';

export interface RouteSources {
  readonly version: string;
  readonly services: ServerServices;
  readonly generations: Generations;
  /** The app that the routes become part of. */
  readonly app: () => App;
  /** Asks the ledger's file once the newest requests are in it. */
  readonly ask: LedgerQuestions['ask'];
  readonly vault: () => Promise<VaultFacts>;
}
