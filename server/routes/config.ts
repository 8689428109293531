/** `/config/reload`, for callers on this machine. */
import type { Route } from '../http/router.ts';

/** Result of a reload, in the form of the response. */
export interface ReloadReport {
  readonly message: string;
  /**
   * Keys whose new value is in force; `custom_providers.<name>` if the code of a module has
   * changed.
   */
  readonly applied: readonly string[];
  /** Keys whose new value waits for a restart. */
  readonly needsRestart: readonly string[];
  /** The configuration file; null if there is none. */
  readonly configFile: string | null;
  /** Settings that are allowed but probably unintended, and modules that cannot be used. */
  readonly warnings: readonly string[];
}

export function configRoutes(reload: () => Promise<ReloadReport>): Route[] {
  return [
    {
      method: 'POST',
      path: '/config/reload',
      audience: 'this-machine',
      async handle() {
        const { message, applied, needsRestart, warnings } = await reload();
        return Response.json({
          status: 'ok',
          message,
          applied,
          needs_restart: needsRestart,
          warnings,
        });
      },
    },
  ];
}
