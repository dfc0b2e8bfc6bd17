import type { ASTNode } from "@marcbachmann/cel-js";
import type { Fault } from "./problem.ts";

/** Finds calls that would escape the type check, or let a vendor's text make planning hang. */
export function findUnsafeCall(root: ASTNode): Fault | null {
  const todo: unknown[] = [root];
  while (todo.length > 0) {
    const next = todo.pop();
    if (Array.isArray(next)) todo.push(...next);
    if (!isNode(next)) continue;
    const fault = unsafe(next);
    if (fault !== null) return { ...fault, range: next.range };
    if (next.op !== "value" && next.op !== "id") todo.push(next.args);
  }
  return null;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

function unsafe(node: ASTNode): Fault | null {
  if (node.op === "call" && node.args[0] === "dyn") {
    return {
      message: "`dyn` would switch the type check off",
      expected: "a condition without dyn",
    };
  }
  if (node.op !== "rcall" || node.args[0] !== "matches") return null;
  const pattern = node.args[2][0];
  if (pattern?.op !== "value" || typeof pattern.args !== "string") {
    return {
      message: "the pattern of `matches` must be written out",
      expected: 'a text, such as payable.description.matches("^Rent")',
    };
  }
  return patternFault(pattern.args);
}

// JavaScript's regular expressions backtrack: (a+)+ on a long description would never end, and
// several unlimited repetitions make it slow enough to hurt.
function patternFault(pattern: string): Fault | null {
  const expected = "a simple regular expression, such as ^Rent|lease [0-9]+";
  try {
    new RegExp(pattern, "u");
  } catch {
    return { message: "the pattern of `matches` is not a regular expression", expected };
  }
  const plain = pattern.replace(/\\./g, "e").replace(/\[[^\]]*\]/g, "c");
  if (/\)[*+{]/.test(plain)) {
    return { message: "the pattern of `matches` repeats a group", expected };
  }
  if (/\\[1-9k]|\(\?[=!<]/.test(pattern)) {
    return { message: "the pattern of `matches` looks around or back", expected };
  }
  const repeated = plain.match(/[*+{]/g)?.length ?? 0;
  const optional = plain.match(/[^(*+}]\?/g)?.length ?? 0;
  if (repeated > 3 || optional > 8) {
    return { message: "the pattern of `matches` has too many repetitions", expected };
  }
  return null;
}
