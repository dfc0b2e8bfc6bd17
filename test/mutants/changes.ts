import {
  type ArrayExpression,
  type Expression,
  type Node,
  parseSync,
  visitorKeys,
} from "oxc-parser";

/** A part of a source file; ends are exclusive. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A part of a source file, and what takes its place. */
interface Edit extends Span {
  readonly text: string;
  /** What people are shown of it; the edit itself if this is left out. */
  readonly shown?: Span;
}

/** A single change of a source file that a test ought to notice. */
export interface Change extends Edit {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  /** Empty if the change drops something. */
  readonly after: string;
  /** Names the change, wherever its lines move to. */
  readonly key: string;
}

const OTHER_OPERATOR: Readonly<Record<string, string>> = {
  ...{ "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "===" },
  ...{ "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "&&": "||", "||": "&&" },
};

const OTHER_METHOD: ReadonlyMap<string, string> = new Map(
  Object.entries({ some: "every", every: "some", min: "max", max: "min" }),
);

/** Calls without which the rest of their chain does something else. */
const DROPPED_METHODS: ReadonlySet<string> = new Set(
  "where whereRef having filter limit orderBy sort toSorted slice".split(" "),
);

const SQL_TEST = String.raw`[\w.]+ (?:(?:=|<>|<=?|>=?|(?:not )?in) (?:\$\{[^{}]*\}|'[^']*'|[\w.]+)|is(?: not)? null)`;

/** A condition of an SQL text beside another. */
const SQL_CONDITIONS = [`(?<=\\bwhere )${SQL_TEST}\\s+and `, `\\s+and ${SQL_TEST}`].map(
  (pattern) => new RegExp(pattern, "g"),
);

const SHOWN_CHARACTERS = 160;

/** Of larger numbers, such as milliseconds, one more is no other bound. */
const LARGEST_COUNT = 100;

/** Stands for the name of the function, outside of any. */
const OUTSIDE = "file";

/** Returns the single changes of a source file, in its order. */
export function changesIn(file: string, source: string): Change[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0] !== undefined) throw new Error(`${file} can't be read: ${errors[0].message}`);
  const found: Change[] = [];
  const times = new Map<string, number>();
  const walk = (node: Node, around: string): void => {
    const inside = nameOf(node, around) ?? around;
    for (const edit of editsOf(node, source)) {
      const { start, end } = edit.shown ?? edit;
      const before = oneLine(source.slice(start, end));
      const after = oneLine(
        source.slice(start, edit.start) + edit.text + source.slice(edit.end, end),
      );
      const name = `${file} ${inside}: ${before} → ${after === "" ? "nothing" : after}`;
      const count = (times.get(name) ?? 0) + 1;
      times.set(name, count);
      const line = source.slice(0, edit.start).split("\n").length;
      found.push({
        ...edit,
        file,
        line,
        before,
        after,
        key: count > 1 ? `${name} (${count})` : name,
      });
    }
    for (const child of childrenOf(node)) walk(child, inside);
  };
  walk(program, OUTSIDE);
  return found.sort((a, b) => a.start - b.start);
}

/** Returns a source file with a change in it. */
export function changed(source: string, { start, end, text }: Edit): string {
  return source.slice(0, start) + text + source.slice(end);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim().replace(/^;$/, "");
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

/** Returns the parts of a node that run; types don't. */
function childrenOf(node: Node): Node[] {
  if (/^TS(?!As|Satisfies|NonNull)|^Import/.test(node.type)) return [];
  const children = (visitorKeys[node.type] ?? []).map((key): unknown => Reflect.get(node, key));
  return children.flat().filter(isNode);
}

/** Returns the name that a node gives to what is in it: a function's, or an outermost constant's. */
function nameOf(node: Node, around: string): string | undefined {
  if (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") return node.id?.name;
  if (node.type === "VariableDeclarator" && around === OUTSIDE) {
    return node.id.type === "Identifier" ? node.id.name : undefined;
  }
  if (node.type !== "MethodDefinition" && node.type !== "PropertyDefinition") return undefined;
  const { key } = node;
  return key.type === "Identifier" || key.type === "PrivateIdentifier" ? key.name : undefined;
}

function* editsOf(node: Node, source: string): Generator<Edit, void> {
  const textOf = ({ start, end }: Span) => source.slice(start, end);
  const put = (text: string): Edit => ({ start: node.start, end: node.end, text });
  switch (node.type) {
    case "IfStatement":
      yield* negated(node.test, source);
      if (node.alternate === null && leaves(node.consequent)) yield put(";");
      return;
    case "ConditionalExpression":
      yield* negated(node.test, source);
      return;
    case "UnaryExpression":
      if (node.operator === "!") yield put(`(${textOf(node.argument)})`);
      return;
    case "LogicalExpression": {
      const [left, right] = [`(${textOf(node.left)})`, `(${textOf(node.right)})`];
      const other = OTHER_OPERATOR[node.operator];
      yield put(right);
      if (other === undefined) return;
      yield put(left);
      yield put(`(${left} ${other} ${right})`);
      return;
    }
    case "BinaryExpression":
    case "AssignmentExpression": {
      const { left, right, operator } = node;
      const between = textOf({ start: left.end, end: right.start });
      const other = OTHER_OPERATOR[operator];
      if (other !== undefined && !isText(left) && !isText(right)) {
        yield put(textOf(left) + between.replace(operator, other) + textOf(right));
      }
      if (node.type === "AssignmentExpression") return;
      for (const { start, end, ...side } of [left, right]) {
        if (side.type !== "Literal" || typeof side.value !== "number") continue;
        if (side.value > LARGEST_COUNT) continue;
        yield { start, end, text: String(side.value + 1), shown: node };
      }
      return;
    }
    case "CallExpression": {
      const { callee } = node;
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      const { object, property } = callee;
      if (DROPPED_METHODS.has(property.name)) yield { start: object.end, end: node.end, text: "" };
      const other = OTHER_METHOD.get(property.name);
      if (other !== undefined) {
        yield { start: property.start, end: property.end, text: other, shown: node };
      }
      return;
    }
    case "ArrayExpression":
      yield* withoutOne(node);
      return;
    case "Literal":
      if (typeof node.value === "boolean") yield put(String(!node.value));
      return;
    case "ExpressionStatement": {
      const { expression } = node;
      const call = expression.type === "AwaitExpression" ? expression.argument : expression;
      if (call.type === "CallExpression") yield put(";");
      return;
    }
    case "TaggedTemplateExpression": {
      if (node.tag.type !== "Identifier" || node.tag.name !== "sql") return;
      const text = textOf(node.quasi);
      for (const match of SQL_CONDITIONS.flatMap((pattern) => [...text.matchAll(pattern)])) {
        const start = node.quasi.start + match.index;
        yield { start, end: start + match[0].length, text: "" };
      }
      return;
    }
    default:
  }
}

/** Negates a condition, unless another change does. */
function* negated(test: Expression, source: string): Generator<Edit, void> {
  const isOther = test.type === "UnaryExpression" && test.operator === "!";
  if (isOther || (test.type === "BinaryExpression" && /^[!=]==$/.test(test.operator))) return;
  const { start, end } = test;
  yield { start, end, text: `!(${source.slice(start, end)})` };
}

/** Drops each element of a list. */
function* withoutOne({ elements, start, end }: ArrayExpression): Generator<Edit, void> {
  const spans = elements.filter((element) => element !== null);
  if (spans.length === 1) yield { start, end, text: "[]" };
  if (spans.length < 2) return;
  for (const [index, shown] of spans.entries()) {
    const [before, after] = [spans[index - 1], spans[index + 1]];
    if (after !== undefined) yield { start: shown.start, end: after.start, text: "", shown };
    else yield { start: before?.end ?? shown.start, end: shown.end, text: "", shown };
  }
}

function leaves(statement: Node): boolean {
  const last = statement.type === "BlockStatement" ? statement.body.at(-1) : statement;
  return last !== undefined && /^(?:Return|Throw|Continue|Break)Statement$/.test(last.type);
}

function isText(node: Node): boolean {
  if (node.type === "Literal") return typeof node.value === "string";
  if (node.type === "BinaryExpression") return isText(node.left) || isText(node.right);
  return node.type === "TemplateLiteral";
}
