import { Visitor } from "@swc/core/Visitor.js";

/**
 * The directions that imports run in: contracts ← domain ← api, workflows, activities, actions;
 * payments-api and store ← ledger ← activities, actions, janitor; actions ← events, reports ←
 * gateway. The sandbox stands apart from all of them.
 */

const OURS = "^(src|workflows|activities|playbooks|test|bench|scripts|bin|docker)/";

/**
 * @param {string} folder what the rule is for
 * @param {string[]} allowed the folders of ours that it may import from, itself included always
 * @param {string} why
 */
function only(folder, allowed, why) {
  const may = [folder, ...allowed].map((name) => `^${name}(/|\\.ts$)`);
  return {
    name: `only-${folder.replace("src/", "")}`,
    comment: why,
    severity: "error",
    from: { path: `^${folder}/` },
    to: { path: OURS, pathNot: [...may, PROFILE_TYPES] },
  };
}

/** The one thing that everybody may know of the settings, as a type: what a business is. */
const PROFILE_TYPES = "^src/config/business-profile\\.ts$";

/**
 * The parser knows `using`, the visitor that walks what it has parsed does not yet.
 *
 * @typedef {{ type: string, decls?: unknown }} Statement
 * @typedef {object} Walker
 * @property {(this: Walker, statement: Statement) => Statement} visitStatement
 * @property {(declarations: unknown) => unknown} visitVariableDeclarators
 */
const walker = /** @type {Walker} */ (/** @type {unknown} */ (Visitor.prototype));
const { visitStatement } = walker;
walker.visitStatement = function visitAnyStatement(statement) {
  if (statement.type !== "UsingDeclaration") return visitStatement.call(this, statement);
  return { ...statement, decls: this.visitVariableDeclarators(statement.decls) };
};

const CONTRACTS = "src/contracts";
const DOMAIN = "src/domain";
const API = "src/payments-api";
const OUTGOING = "src/outgoing";
const STORE = "src/store";
const LEDGER = "src/ledger";
const PLAYBOOKS = "src/playbooks";
const HTTP_API = "src/api";
const ACTIONS = "src/actions";
const EVENTS = "src/events";
const REPORTS = "src/reports";
const GATEWAY = "src/gateway";
const CONSOLE = "src/console";
const BUSINESS = "src/business";
const TEMPORAL = "src/temporal";
const PROCESS = "src/process";
const VAULT = "src/vault";
const NOTICES = "src/notices";
const DECISIONS = "src/decisions";

export default {
  forbidden: [
    only(CONTRACTS, [], "a leaf: types and names that everybody shares"),
    only(DOMAIN, [CONTRACTS], "pure rules"),
    only(PLAYBOOKS, [CONTRACTS, DOMAIN], "what an author wrote, compiled"),
    only(STORE, [CONTRACTS, DOMAIN], "rows; the caller decides"),
    only(LEDGER, [CONTRACTS, DOMAIN, API, STORE, BUSINESS], "the one door of every money write"),
    only(OUTGOING, ["scripts/setup"], "the way out of each HTTP request; set-up takes the same"),
    only(API, [OUTGOING], "the typed client knows nothing of Payrun"),
    only("workflows", [CONTRACTS, DOMAIN, "activities"], "deterministic"),
    only(TEMPORAL, [CONTRACTS, DOMAIN, VAULT, OUTGOING], "how a process meets a Temporal server"),
    only(VAULT, [STORE], "what is personal, encrypted"),
    only(PROCESS, [DOMAIN, STORE, "src/config"], "how a part begins and stops as a process"),
    only(BUSINESS, [DOMAIN, API, OUTGOING], "the client and the clocks of a business"),
    only(
      DECISIONS,
      [CONTRACTS, DOMAIN, STORE, LEDGER, BUSINESS],
      "judges and stores; others deliver",
    ),
    only(
      "activities",
      [CONTRACTS, DOMAIN, API, STORE, LEDGER, PLAYBOOKS, BUSINESS, TEMPORAL, VAULT, DECISIONS],
      "what touches the world",
    ),
    only(
      NOTICES,
      [CONTRACTS, DOMAIN, API, STORE, BUSINESS, PROCESS, OUTGOING],
      "sends what is in the outbox",
    ),
    only(HTTP_API, [CONTRACTS, DOMAIN], "what the gateway answers, and everybody parses"),
    only(
      ACTIONS,
      [
        CONTRACTS,
        DOMAIN,
        API,
        STORE,
        LEDGER,
        PLAYBOOKS,
        BUSINESS,
        TEMPORAL,
        VAULT,
        PROCESS,
        DECISIONS,
      ],
      "what people and systems do, whichever door they use",
    ),
    only(
      EVENTS,
      [CONTRACTS, DOMAIN, API, STORE, BUSINESS, PROCESS, ACTIONS],
      "from a webhook to the workflow that it concerns",
    ),
    only(
      REPORTS,
      [CONTRACTS, DOMAIN, HTTP_API, API, STORE, LEDGER, BUSINESS, ACTIONS],
      "how things stand, and what they came to",
    ),
    only(
      GATEWAY,
      [
        CONTRACTS,
        DOMAIN,
        HTTP_API,
        API,
        STORE,
        LEDGER,
        PLAYBOOKS,
        BUSINESS,
        TEMPORAL,
        VAULT,
        PROCESS,
        NOTICES,
        DECISIONS,
        ACTIONS,
        EVENTS,
        REPORTS,
        CONSOLE,
        OUTGOING,
        "src/config",
      ],
      "HTTP in and out",
    ),
    only(
      CONSOLE,
      [CONTRACTS, DOMAIN, HTTP_API],
      "pages over the API's operations: it has no store and no action to go around them with",
    ),
    only(
      "src/janitor",
      [CONTRACTS, DOMAIN, API, STORE, LEDGER, BUSINESS, TEMPORAL, PROCESS],
      "compares the store with Temporal",
    ),
    only(
      "src/sandbox",
      [`${API}/schemas`, OUTGOING],
      "the other side: it shares no code with the engine",
    ),
    // What a folder's files may set is one rule for the set-up and for the program.
    only("src/config", [CONTRACTS, "scripts/setup"], "settings depend on nothing that they set"),
    {
      name: "settings-are-read-by-composition-roots",
      comment: "Everybody else is given what it needs.",
      severity: "error",
      from: {
        path: "^(src|workflows|activities)/",
        pathNot: "^src/(config|process|worker|cli|gateway/main)",
      },
      to: { path: "^src/config(/|\\.ts$)", pathNot: PROFILE_TYPES },
    },
    {
      name: "business-profiles-are-types",
      comment: "Reading a profile is the business of src/config.ts.",
      severity: "error",
      from: { path: OURS, pathNot: "^(src/config|test)" },
      to: { path: PROFILE_TYPES, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "workflows-know-activities-as-types",
      comment: "An activity's code in the workflow bundle would touch the world on replay.",
      severity: "error",
      from: { path: "^workflows/" },
      to: { path: "^activities/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "workflow-packages",
      comment: "What is in the bundle must be deterministic, also when it is loaded.",
      severity: "error",
      from: { path: "^workflows/" },
      to: {
        dependencyTypes: ["npm", "npm-dev", "npm-optional", "npm-peer"],
        pathNot: "(^|/)node_modules/@temporalio/(workflow|common)/",
      },
    },
    {
      name: "workflows-and-node",
      comment: "Workflow code runs in a sandbox without Node's modules.",
      severity: "error",
      from: { path: "^(workflows|src/contracts)/" },
      to: { dependencyTypes: ["core"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "nobody-imports-the-sandbox",
      comment: "It is started as a process, like the service that it stands for.",
      severity: "error",
      from: { path: OURS, pathNot: "^(src/sandbox|test)/" },
      to: { path: "^src/sandbox/" },
    },
    {
      name: "nobody-imports-a-composition-root",
      comment: "The worker, the CLI and the tests stand at the top.",
      severity: "error",
      from: { path: "^(src|workflows|activities)/", pathNot: "^src/(worker|cli)/" },
      to: { path: "^src/(worker|cli)/" },
    },
    {
      name: "nobody-imports-tests",
      severity: "error",
      from: { path: "^(src|workflows|activities|scripts|bin)/" },
      to: { path: "^(test|bench)/" },
    },
    {
      name: "no-development-packages-at-run-time",
      severity: "error",
      from: { path: "^(src|workflows|activities|bin)/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "no-unlisted-packages",
      comment: "A package that another one happens to bring can be gone tomorrow.",
      severity: "error",
      from: { path: OURS },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "no-circles",
      severity: "error",
      from: { path: OURS },
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-circles-between-folders",
      comment:
        "Of two folders beside each other, one stands on the other. The sandbox is one piece.",
      severity: "error",
      scope: "folder",
      from: { path: "^(src/.+/|activities/)", pathNot: "^src/sandbox/" },
      to: { circular: true },
    },
    {
      name: "nothing-unresolvable",
      severity: "error",
      from: { path: OURS },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
      extensions: [".ts", ".mjs", ".js", ".json", ".d.ts"],
    },
  },
};
