import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { type Command, Option } from "@commander-js/extra-typings";

import { trustFile } from "../../config.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { CliSession } from "../client/session.ts";
import {
  aboutPlaybook,
  answerProblems,
  DEFAULT_BUSINESS,
  DEFAULT_PLAYBOOK,
  ENVIRONMENT,
  examplePlaybooks,
  filesFor,
  PROFILES,
  type InitAnswers,
  type InitFile,
  nextSteps,
  SERVICES,
} from "../init/files.ts";
import { IMAGE_USER, imageNeeds, isRoot } from "../init/compose.ts";
import { CliError, EXIT, errorReason, usageError } from "../terminal/cli-error.ts";
import { collect } from "../terminal/collect.ts";
import { canAsk } from "../terminal/confirm.ts";
import type { Output } from "../terminal/output.ts";
import { bold, dim, green } from "../terminal/text.ts";
import { typeable } from "../terminal/typed.ts";
import { shellWord } from "../../domain/shell-word.ts";

interface InitOptions {
  readonly service?: (typeof SERVICES)[number] | undefined;
  readonly business?: string | undefined;
  readonly apiUrl?: string | undefined;
  readonly businessId?: string | undefined;
  readonly playbook?: string | undefined;
  readonly approver?: string[] | undefined;
  readonly force?: true | undefined;
  readonly yes?: true | undefined;
}

export function addInitCommand(program: Command, session: CliSession): void {
  program
    .command("init")
    .description(
      "write a first playbook, the profiles and a compose file, and show what to type next",
    )
    .argument("[folder]", "where to", ".")
    .addOption(
      new Option("--service <which>", "the sandbox, or a real Payments Service").choices(SERVICES),
    )
    .option("--business <name>", "what playbooks and commands call the business")
    .option("--api-url <url>", "address of the real service")
    .option("--business-id <id>", "the business's id at the real service")
    .option("--playbook <name>", "which of the playbooks that come with Payrun to begin with")
    .option("--approver <role>", "a role that approves; may be repeated", collect)
    .option("--force", "overwrite files that are there")
    .option("-y, --yes", "ask nothing: take the proposed value of what no flag sets")
    .option("--json", "print one JSON document")
    .action((folder, options) =>
      session.run(options, async ({ output }) => {
        const isAsked = options.yes !== true && canAsk(output);
        const answers = isAsked ? await asked(options) : answersOf(options);
        const problems = answerProblems(answers);
        if (problems.length > 0) throw usageError(problems.join("\n"), "payrun init --help");
        const place = resolve(folder);
        const files = filesFor(answers, place);
        const there = files.filter((file) => isOther(place, file));
        if (there.length > 0 && options.force !== true) throw refusal(there, place);
        const written = files.filter((file) => !isAddedTo(place, file));
        writeAll(place, written);
        for (const file of written) trustWritten(place, file);
        for (const file of files) say(output, place, file, there.includes(file));
        const needs = imageNeeds(place);
        if (needs !== undefined) output.line(`! ${needs}`);
        const steps = nextSteps(answers);
        output.line(bold("What to type next:"));
        const here = relative(process.cwd(), place);
        for (const step of here === "" ? steps : [`cd ${shellWord(here)}`, ...steps]) {
          // The steps run in that folder, where `payrun` may start in another way than here.
          output.verbatim(`  ${typeable(step, place)}`);
        }
        output.document({ files: files.map(({ path }) => path), next: steps });
      }),
    );
}

/** Flags that are left out default to the safe choice: the sandbox and the plainest playbook. */
function answersOf(options: InitOptions): InitAnswers {
  const { service = "sandbox", business, apiUrl = "", businessId = "" } = options;
  if (service === "sandbox") refuseForSandbox(options);
  return {
    service,
    apiUrl,
    businessId,
    business: business ?? DEFAULT_BUSINESS[service],
    playbook: options.playbook ?? DEFAULT_PLAYBOOK,
    approvers: options.approver,
  };
}

/** Flags for the real service would have no effect on the sandbox, so they are refused. */
function refuseForSandbox({ business, apiUrl, businessId }: InitOptions): void {
  const isOther = business !== undefined && business !== DEFAULT_BUSINESS.sandbox;
  if (!isOther && apiUrl === undefined && businessId === undefined) return;
  throw usageError(
    `the sandbox has one business, “${DEFAULT_BUSINESS.sandbox}”, which needs no address and no id`,
    "Use --service real for your own.",
  );
}

async function asked(options: InitOptions): Promise<InitAnswers> {
  const { select } = await import("@clack/prompts");
  const service =
    options.service ??
    answered<(typeof SERVICES)[number]>(
      await select({
        message: "Which Payments Service?",
        options: [
          { value: "sandbox" as const, label: "The sandbox on this machine (no real money)" },
          { value: "real" as const, label: "A real one" },
        ],
      }),
    );
  const given = answersOf({ ...options, service });
  const real = { ...given, apiUrl: "https://x.example", businessId: "x" };
  const isReal = service === "real";
  const business =
    options.business ??
    (isReal
      ? await said({
          message: "What is the business called?",
          otherwise: given.business,
          check: (business) => ({ ...real, business }),
        })
      : given.business);
  const apiUrl =
    options.apiUrl ??
    (isReal
      ? await said({
          message: "Address of the service?",
          example: EXAMPLE_URL,
          check: (apiUrl) => ({ ...real, apiUrl }),
        })
      : "");
  const businessId =
    options.businessId ??
    (isReal
      ? await said({
          message: "The business's id at the service?",
          check: (businessId) => ({ ...real, businessId }),
        })
      : "");
  const playbook =
    options.playbook ??
    answered(
      await select({
        message: "Which playbook to begin with?",
        options: examplePlaybooks().map((value) => ({
          value,
          label: value,
          hint: aboutPlaybook(value),
        })),
      }),
    );
  const roles =
    options.approver ??
    rolesIn(
      await said({
        message: "Who approves? Roles, with commas; empty: as the playbook says",
        check: (text) => ({ ...real, approvers: rolesIn(text) ?? [] }),
      }),
    );
  return { service, business, apiUrl, businessId, playbook, approvers: roles };
}

interface Question {
  readonly message: string;
  /** An example of an answer. */
  readonly example?: string;
  /** The default for an empty answer. */
  readonly otherwise?: string;
  /** Returns the answers with this one included, to find what is wrong with it. */
  readonly check: (value: string) => InitAnswers;
}

async function said({ message, example, otherwise, check }: Question): Promise<string> {
  const { text } = await import("@clack/prompts");
  const placeholder = otherwise ?? example;
  const answer = await text({
    message,
    ...definedOnly({ placeholder, defaultValue: otherwise }),
    validate: (value = "") => {
      const isLeft = value === "" && otherwise !== undefined;
      return isLeft ? undefined : answerProblems(check(value)).map(withoutFlag)[0];
    },
  });
  return answered(answer);
}

const EXAMPLE_URL = "https://payments.example.com";

/** The person who answers a question typed no flag. */
function withoutFlag(problem: string): string {
  return problem.replace(/^--[\w-]+:? /, "");
}

/** Ctrl-C answers with a symbol. */
function answered<Value extends string>(value: Value | symbol): Value {
  if (typeof value !== "symbol") return value;
  throw new CliError(EXIT.interrupted, "nothing was written", { code: "interrupted" });
}

function rolesIn(text: string): string[] | undefined {
  const roles = text.split(/[\s,]+/).filter((role) => role !== "");
  return roles.length === 0 ? undefined : roles;
}

/** Files with settings that the user already has; they are only added to. */
const ADDED_TO: readonly string[] = [ENVIRONMENT, ".gitignore", ".gitattributes"];

function isAddedTo(folder: string, { path }: InitFile): boolean {
  return ADDED_TO.includes(path) && existsSync(join(folder, path));
}

function isOther(folder: string, file: InitFile): boolean {
  const path = join(folder, file.path);
  if (isAddedTo(folder, file) || !existsSync(path)) return false;
  return readFileSync(path, "utf8") !== file.text;
}

function refusal(there: readonly InitFile[], folder: string): CliError {
  const shown = there.map(({ path }) => relative(process.cwd(), join(folder, path)));
  const isOne = shown.length === 1;
  return new CliError(
    EXIT.usage,
    `${shown.join(", ")} ${isOne ? "is" : "are"} there already; nothing was written`,
    {
      code: "exists",
      hint: `--force overwrites ${isOne ? "it" : "them"}; “payrun init FOLDER” writes elsewhere.`,
      details: shown,
    },
  );
}

/** Writes all files, or none if one can't be written. */
function writeAll(folder: string, files: readonly InitFile[]): void {
  const written: { readonly from: string; readonly to: string }[] = [];
  try {
    for (const { path, text, mode } of files) {
      const to = join(folder, path);
      const from = `${to}.${process.pid}.new`;
      const isNew = mkdirSync(dirname(to), { recursive: true }) !== undefined;
      written.push({ from, to });
      writeFileSync(from, text, { mode });
      // Containers read the files as another user, regardless of this shell's umask.
      chmodSync(from, mode);
      if (isNew && dirname(path) !== ".") chmodSync(dirname(to), 0o755);
      if (path === PROFILES && isRoot()) chownSync(from, IMAGE_USER, IMAGE_USER);
    }
    for (const { from, to } of written) renameSync(from, to);
  } catch (error) {
    throw new CliError(EXIT.failed, `${folder} can't be written: ${errorReason(error)}`, {
      hint: "“payrun init FOLDER” writes elsewhere.",
    });
  } finally {
    for (const { from } of written) rmSync(from, { force: true });
  }
}

/** Has commands in this folder use the settings in a file just written, as if they were exported. */
function trustWritten(folder: string, { path, text }: InitFile): void {
  if (path !== ENVIRONMENT && path !== PROFILES) return;
  try {
    trustFile(join(folder, path), text);
  } catch (error) {
    throw new CliError(EXIT.failed, `what is trusted can't be kept: ${errorReason(error)}`, {
      hint: "Set XDG_CONFIG_HOME to a folder that can be written to, then type payrun trust.",
    });
  }
}

/** Returns the name that a line sets, with its `=`; a line that sets nothing is returned whole. */
function settingIn(line: string): string {
  return /^\w+=/.exec(line)?.[0] ?? line;
}

function say(output: Output, folder: string, file: InitFile, isOverwritten: boolean): void {
  const path = join(folder, file.path);
  const shown = relative(process.cwd(), path);
  const text = readFileSync(path, "utf8");
  if (text === file.text) {
    output.line(`${green("✓")} ${shown}${isOverwritten ? dim("  (overwritten)") : ""}`);
    return;
  }
  const known = new Set(text.split("\n").map(settingIn));
  const missing = file.text
    .split("\n")
    .filter((line) => !/^(#|$)/.test(line) && !known.has(settingIn(line)));
  if (missing.length > 0) {
    const then = file.path === ENVIRONMENT ? ", then type payrun trust" : "";
    output.line(`! ${shown} is there: add ${missing.join(" and ")} to it${then}`);
  }
}
