/**
 * Shapes: objects with the same keys that are scattered over a document (the owner in every record
 * of an API response). Their keys are written once, as a shape, and each object as its values. The
 * columns of a shape work like those of a table.
 */
import { partsOf, type JsonNode, type ObjectNode } from './lexer.ts';
import { planColumns, type Column } from './table.ts';

/** A shape's number and columns. */
export interface Shape {
  readonly id: number;
  readonly columns: readonly Column[];
}

const MIN_KEYS = 3;
const MIN_OBJECTS = 3;
const MIN_KEY_CHARS = 40;
const MAX_SHAPES = 40;

/** Returns the signature of an object's shape: its keys in order. */
export function signatureOf(node: ObjectNode): string {
  return node.keys.join();
}

/** Finds shapes worth defining, by signature, numbered in order of first appearance. */
export function findShapes(root: JsonNode): ReadonlyMap<string, Shape> {
  const found = new Map<string, JsonNode[]>();
  visit(root, found);
  const shapes = new Map<string, Shape>();
  for (const [signature, objects] of found) {
    const repeated = signature.length * (objects.length - 1);
    if (objects.length < MIN_OBJECTS || repeated < MIN_KEY_CHARS || shapes.size >= MAX_SHAPES)
      continue;
    const columns = planColumns(objects);
    if (columns !== undefined) shapes.set(signature, { id: shapes.size + 1, columns });
  }
  return shapes;
}

function visit(node: JsonNode, found: Map<string, JsonNode[]>): void {
  if (node.kind === 'object' && node.keys.length >= MIN_KEYS) {
    const signature = signatureOf(node);
    const known = found.get(signature);
    if (known === undefined) found.set(signature, [node]);
    else known.push(node);
  }
  for (const part of partsOf(node)) visit(part, found);
}
