/** The bundled plugin of macros: each configured macro is a stage of its own before `compress`. */
import type { Insertion } from '../../engine/index.ts';
import type { ProxyFrame } from '../../stages/model/frame.ts';
import type { PassPart } from '../../stages/model/pass.ts';
import { passStage } from '../../stages/recipes/stage.ts';
import { ORDER } from './bundled.ts';
import type { BundledPlugin } from './bundled.ts';

const NAME = 'macros';

/** A macro that can be a stage. */
export interface MacroStage {
  readonly name: string;
  readonly part: PassPart;
  /** Differs whenever its effect differs. */
  readonly id: string;
  readonly about: readonly string[];
}

/** Returns the node name of a macro. */
export const macroNode = (name: string): string => `macro:${name}`;

/** Creates the plugin for the macros of the configuration, in its order. */
export function macrosPlugin(macros: readonly MacroStage[]): BundledPlugin {
  return {
    name: NAME,
    insertions: macros.map(({ name, part, about }, index) =>
      toInsertion(name, part, about, ORDER.macro + index),
    ),
  };
}

/**
 * Creates the insertion for a macro named by a request: it applies to the conversation from that
 * request on.
 */
export function requestedMacro({ name, part, id, about }: MacroStage): Insertion<ProxyFrame> {
  const requested = Object.freeze({ ...part, requestedAs: id });
  return toInsertion(name, requested, about, ORDER.requestedMacro);
}

function toInsertion(
  name: string,
  part: PassPart,
  about: readonly string[],
  order: number,
): Insertion<ProxyFrame> {
  const stage = passStage(macroNode(name), part);
  return { stage, plugin: NAME, before: 'compress', order, about };
}
