/**
 * The plans of a generation: one for every request, and one more for each macro that a request
 * names with `x-svc-macro`, in which that macro is a stage. They share their stages, so that what
 * those have learned is known to all.
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
  /** Throws `bad_request` for one that names a macro that cannot be a stage. */
  planOf(body: Pick<BodyFrame, 'headers' | 'endpoint'>): Plan<ProxyFrame>;
  /** The plan of a request that names the macro. Throws like `planOf`. */
  withMacro(name: string): Plan<ProxyFrame>;
}

export interface PlanOptions {
  readonly graph: Graph<ProxyFrame>;
  readonly insertions: readonly Insertion<ProxyFrame>[];
  readonly macros: StageMacros;
  /** The error of a graph that cannot be compiled. */
  readonly refuse: (faults: readonly GraphFault[]) => Error;
}

export function createPlans({ graph, insertions, macros, refuse }: PlanOptions): Plans {
  const planWith = (all: readonly Insertion<ProxyFrame>[]): Plan<ProxyFrame> => {
    const { plan, faults } = compile(graph, { insertions: all });
    if (plan === undefined) throw refuse(faults);
    return plan;
  };
  const plan = planWith(insertions);
  /** As many as there are macros at most, since another name has no stage. */
  const requested = new Map<string, Plan<ProxyFrame>>();
  const withMacro = (name: string): Plan<ProxyFrame> => {
    let found = requested.get(name);
    if (found === undefined) {
      // One of the configuration holds for conversations that begin with it, one that is named from then on.
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
      // Clients send a field with every request, also where there is nothing to compress.
      if (!endpoint.rewritable) return plan;
      const name = headerValue(headers, MACRO_HEADER)?.trim();
      return name === undefined ? plan : withMacro(name);
    },
  };
}
