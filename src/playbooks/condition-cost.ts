import type { ASTNode } from "@marcbachmann/cel-js";
import { CALLS, LOOPS, NEVER_FAIL, MISSING_SIZE, noSuchFunction } from "./condition-functions.ts";
import { readPattern } from "./condition-patterns.ts";
import {
  entryOf,
  fieldOf,
  isAlwaysThere,
  sizeOfJoined,
  larger,
  sizeOfList,
  mapped,
  PAYABLE,
  scan,
  SCALAR,
  type Size,
  textOf,
} from "./condition-sizes.ts";
import type { Fault } from "./problem.ts";

/** The most steps of a condition for one bill; a step is about a tenth of a microsecond. */
const MOST_STEPS = 100_000;

/** The cost of a failure after which the condition continues: composing its message and place. */
const FAILURE_STEPS = 100;

/** Upper bounds for a part of a condition, for any bill. */
interface Bound {
  readonly steps: number;
  readonly size: Size;
  readonly mayFail: boolean;
}

type Scope = ReadonlyMap<string, Size>;

class Unfit extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, { range }: ASTNode) {
    super(fault.message);
    this.fault = { ...fault, range };
  }
}

/**
 * Finds what would make a condition too slow on some bill, or escape the type check.
 *
 * Nothing runs. The steps of each part, and the size of its result, are bounded from the leaves up,
 * using the sizes that `condition-sizes.ts` gives for a bill. So a condition that passes ends in
 * time on every bill, and the result is the same on a slow machine.
 */
export function findUnfit(root: ASTNode): Fault | null {
  try {
    boundOf(root, new Map([["payable", PAYABLE]]));
    return null;
  } catch (error) {
    if (error instanceof Unfit) return error.fault;
    throw error;
  }
}

function boundOf(node: ASTNode, scope: Scope): Bound {
  const bound = measure(node, scope);
  // Not `>`: what can't be counted is too much.
  if (bound.steps <= MOST_STEPS) return bound;
  throw new Unfit(
    {
      message: `this may take too long: ${stepsText(bound.steps)} for a bill with long texts`,
      expected: `at most ${stepsText(MOST_STEPS)}: fewer loops in each other, shorter lists, simpler patterns`,
    },
    node,
  );
}

function stepsText(steps: number): string {
  return steps < 1e9 ? `${Math.ceil(steps).toLocaleString("en-US")} steps` : "over a billion steps";
}

function measure(node: ASTNode, scope: Scope): Bound {
  switch (node.op) {
    case "value":
      return sure(1, sizeOf(node.args));
    case "id":
      return sure(1, scope.get(node.args) ?? SCALAR);
    case ".": {
      const of = boundOf(node.args[0], scope);
      const size = fieldOf(of.size, node.args[1]);
      return { steps: of.steps + 1, size, mayFail: of.mayFail || !isAlwaysThere(size) };
    }
    case "list": {
      const entries = node.args.map((entry) => boundOf(entry, scope));
      return together(entries, sizeOfList(entries.map(({ size }) => size)));
    }
    case "map": {
      const entries = node.args.flat().map((entry) => boundOf(entry, scope));
      return together(entries, sizeOfList(entries.map(({ size }) => size)));
    }
    case "?:": {
      const parts = node.args.map((part) => boundOf(part, scope));
      const [, one = NONE, other = NONE] = parts;
      return together(parts, larger(one.size, other.size));
    }
    case "!_":
    case "-_":
      return together([boundOf(node.args, scope)], SCALAR);
    case "&&":
    case "||": {
      const parts = node.args.map((part) => boundOf(part, scope));
      const failures = parts.some(({ mayFail }) => mayFail) ? FAILURE_STEPS : 0;
      return together(parts, SCALAR, failures);
    }
    case "call":
      return called(node, node.args[0], node.args[1], scope);
    case "rcall": {
      const [name, receiver, given] = node.args;
      if (LOOPS.includes(name)) return looped(node, name, receiver, given, scope);
      if (name === "matches") return matched(receiver, given[0], scope);
      return called(node, name, [receiver, ...given], scope);
    }
    case "[]":
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
    case "in":
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
      return operated(node.op, [boundOf(node.args[0], scope), boundOf(node.args[1], scope)]);
    default:
      throw new Unfit({ message: `\`${node.op}\` can't stand in a condition` }, node);
  }
}

function sizeOf(literal: unknown): Size {
  const isLong = typeof literal === "string" || literal instanceof Uint8Array;
  return isLong ? textOf(literal.length) : SCALAR;
}

const NONE: Bound = { steps: 0, size: MISSING_SIZE, mayFail: false };

function sure(steps: number, size: Size): Bound {
  return { steps, size, mayFail: false };
}

function together(parts: readonly Bound[], size: Size, steps = 0): Bound {
  return {
    steps: parts.reduce((sum, part) => sum + part.steps, 1 + steps),
    size,
    mayFail: parts.some(({ mayFail }) => mayFail),
  };
}

function operated(op: string, parts: readonly [Bound, Bound]): Bound {
  const [{ size: one }, { size: other }] = parts;
  switch (op) {
    case "in":
      return together(parts, SCALAR, scan(other));
    case "[]":
      return { ...together(parts, entryOf(one)), mayFail: true };
    case "+":
      return {
        ...together(parts, sizeOfJoined(one, other), scan(sizeOfJoined(one, other))),
        mayFail: true,
      };
    case "-":
    case "*":
    case "/":
    case "%":
      return { ...together(parts, SCALAR), mayFail: true };
    default:
      // The comparison ends when two values differ or the smaller one ends.
      return together(parts, SCALAR, Math.min(scan(one), scan(other)));
  }
}

function called(node: ASTNode, name: string, given: readonly ASTNode[], scope: Scope): Bound {
  const cost = CALLS.get(name);
  if (cost === undefined) throw new Unfit(noSuchFunction(name), node);
  const parts = given.map((part) => boundOf(part, scope));
  const { steps, gives } = cost(parts[0]?.size ?? MISSING_SIZE, parts[1]?.size ?? MISSING_SIZE);
  const bound = together(parts, gives, steps);
  return NEVER_FAIL.has(name) ? bound : { ...bound, mayFail: true };
}

function matched(receiver: ASTNode, pattern: ASTNode | undefined, scope: Scope): Bound {
  if (pattern?.op !== "value" || typeof pattern.args !== "string") {
    throw new Unfit(
      {
        message: "the pattern of `matches` must be written out",
        expected: 'a text, such as payable.description.matches("^Rent")',
      },
      pattern ?? receiver,
    );
  }
  const program = readPattern(pattern.args);
  if (typeof program !== "number") throw new Unfit(program, pattern);
  const of = boundOf(receiver, scope);
  return together([of], SCALAR, (of.size.length * program) / 5);
}

/** Loops that continue after an entry on which their part fails. */
const GOES_ON: readonly string[] = ["all", "exists"];

function looped(
  node: ASTNode,
  name: string,
  over: ASTNode,
  [variable, ...parts]: readonly ASTNode[],
  scope: Scope,
): Bound {
  if (variable?.op !== "id") throw new Unfit(noSuchFunction(name), node);
  const range = boundOf(over, scope);
  const inner = new Map([...scope, [variable.args, entryOf(range.size)]]);
  const bounds = parts.map((part) => boundOf(part, inner));
  const mayFail = bounds.some((bound) => bound.mayFail);
  const failures = mayFail && GOES_ON.includes(name) ? FAILURE_STEPS : 0;
  const each = together(bounds, SCALAR, failures).steps;
  const made = bounds.at(-1)?.size ?? SCALAR;
  const sizes: Record<string, Size> = { filter: range.size, map: mapped(range.size, made) };
  const size = sizes[name] ?? SCALAR;
  return together([range, ...bounds], size, range.size.length * each);
}
