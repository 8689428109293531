/**
 * The plans of a generation: one for every request, plus one per macro that a request names with
 * `x-svc-macro`, in which that macro is a stage. All plans share their stages, and thus what these
 * have learned.
 */
import { compile } from '../../engine/index.ts';
import type { Graph, GraphFault, Insertion, Plan } from '../../engine/index.ts';
import { macroNode, requestedMacro } from '../../plugins/bundled/macros.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import { MACRO_HEADER } from '../../stages/macros/settings.ts';
import { headerValue } from '../../stages/model/headers.ts';
import type { StageMacros } from '../macros/stage-macros.ts';

export interface Plans {
  /** The plan of a request that names no macro. */
  readonly plan: Plan<ProxyFrame>;
  /**
   * Returns the plan of a request. Throws `bad_request` if it names a macro that cannot be a stage.
   */
  planOf(body: Pick<BodyFrame, 'headers' | 'endpoint'>): Plan<ProxyFrame>;
  /** Returns the plan with the macro. Throws like `planOf`. */
  withMacro(name: string): Plan<ProxyFrame>;
}

export interface PlanOptions {
  readonly graph: Graph<ProxyFrame>;
  readonly insertions: readonly Insertion<ProxyFrame>[];
  readonly macros: StageMacros;
  /** Converts graph faults to an error. */
  readonly refuse: (faults: readonly GraphFault[]) => Error;
}

export function createPlans({ graph, insertions, macros, refuse }: PlanOptions): Plans {
  const planWith = (all: readonly Insertion<ProxyFrame>[]): Plan<ProxyFrame> => {
    const { plan, faults } = compile(graph, { insertions: all });
    if (plan === undefined) throw refuse(faults);
    return plan;
  };
  const plan = planWith(insertions);
  /** At most one per macro, since other names have no stage. */
  const requested = new Map<string, Plan<ProxyFrame>>();
  const withMacro = (name: string): Plan<ProxyFrame> => {
    let found = requested.get(name);
    if (found === undefined) {
      // A configured macro applies to conversations that begin with it, a requested one at once.
      const others = insertions.filter(({ stage }) => stage.name !== macroNode(name));
      found = planWith([...others, requestedMacro(macros.stage(name))]);
      requested.set(name, found);
    }
    return found;
  };
  return {
    plan,
    withMacro,
    planOf({ headers, endpoint }) {
      // Clients send the header with every request, even where there is nothing to compress.
      if (!endpoint.rewritable) return plan;
      const name = headerValue(headers, MACRO_HEADER)?.trim();
      return name === undefined ? plan : withMacro(name);
    },
  };
}
