/** `/config/reload`, for callers on this machine. */
import type { Route } from '../http/router.ts';

/** What a reload did, in the words of the answer. */
export interface ReloadReport {
  readonly message: string;
  /** Keys whose new value is in force; `custom_providers.<name>` where a module's code is another. */
  readonly applied: readonly string[];
  /** Keys whose new value waits for a restart. */
  readonly needsRestart: readonly string[];
  /** The file that was read; null where there is none. */
  readonly configFile: string | null;
  /** What is allowed there but hardly meant, and the modules that cannot be used. */
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
