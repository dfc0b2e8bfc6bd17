import type { ASTNode } from "@marcbachmann/cel-js";

export function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

/** Returns a condition and all parts of it. */
export function conditionParts(root: ASTNode): ASTNode[] {
  const parts: ASTNode[] = [];
  const todo: unknown[] = [root];
  while (todo.length > 0) {
    const next = todo.pop();
    if (Array.isArray(next)) todo.push(...next.toReversed());
    if (!isNode(next)) continue;
    parts.push(next);
    if (next.op !== "value" && next.op !== "id") todo.push(next.args);
  }
  return parts;
}
