import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

import { parseDocument, stringify } from "yaml";

import { businessNameProblem } from "../../config.ts";
import { formatUsd } from "../../domain/money.ts";
import { roleProblem } from "../../domain/approvals/token.ts";
import { expectationOf, fixturesOf } from "../../playbooks/fixtures.ts";
import { loadPlaybook } from "../../playbooks/load.ts";
import { formatProblems } from "../../playbooks/problem.ts";
import { isThisMachine } from "../../config/plaintext.ts";
import { nearest } from "../../config/nearest.ts";
import { APPROVER_ROLES } from "../parts/ensure-people.ts";
import { SANDBOX_BUSINESS } from "../parts/sandbox-business.ts";
import { ownFile } from "../terminal/own-files.ts";
import { composeFiles, IMAGE_USER, IN_CONTAINER, isRoot, YAML_STYLE } from "./compose.ts";

/** A file that `init` writes. */
export interface InitFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** The answers that `init` needs, whether from prompts or flags. */
export interface InitAnswers {
  readonly service: "sandbox" | "real";
  /** The business's name in playbooks and commands. */
  readonly business: string;
  readonly apiUrl: string;
  readonly businessId: string;
  /** A playbook that comes with Payrun. */
  readonly playbook: string;
  /** Roles that approve; undefined leaves the playbook's own rules. */
  readonly approvers: readonly string[] | undefined;
}

export const SERVICES = ["sandbox", "real"] as const;

export const DEFAULT_PLAYBOOK = "small-bills-next-day";

/** Returns the names of the pay runs that come with Payrun, the plainest first. */
export function examplePlaybooks(): string[] {
  const names = readdirSync(ownFile("playbooks"))
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -".yaml".length))
    .filter((name) => /^kind: pay-run$/m.test(exampleText(name)));
  return [DEFAULT_PLAYBOOK, ...names.filter((name) => name !== DEFAULT_PLAYBOOK)];
}

/** Returns the first sentence of the comment in a playbook that comes with Payrun. */
export function aboutPlaybook(name: string): string {
  const comment = /^(?:# yaml-language-server.*\n(?:#\n)?)?((?:# .*\n)+)/.exec(
    exampleText(name),
  )?.[1];
  const [first = ""] = (comment ?? "")
    .replace(/^# /gm, "")
    .replaceAll("\n", " ")
    .split(/(?<=[.:]) /);
  return first.replace(/[.:]\s*$/, "");
}

function exampleText(name: string): string {
  return readFileSync(ownFile(`playbooks/${name}.yaml`), "utf8");
}

/** The mode of files that only their owner may read. */
const OWN_MODE = 0o600;

/** The profiles file, which containers read. */
export const PROFILES = "profiles.yaml";

/** The file with settings, which the current folder's commands read. */
export const ENVIRONMENT = ".env";

/** The file for the real service's token, which never goes into a file beside the playbooks. */
const TOKEN_FILE = "secrets/payments-token";

/** Returns everything that is wrong with the answers, each with the flag that sets it. */
export function answerProblems(answers: InitAnswers): string[] {
  const { service, business, apiUrl, businessId, playbook, approvers = [] } = answers;
  const known = examplePlaybooks();
  const meant = nearest(playbook, known);
  const named = businessNameProblem(business);
  return [
    ...(known.includes(playbook)
      ? []
      : [
          `--playbook “${playbook}” doesn't come with Payrun${meant === undefined ? "" : `; did you mean ${meant}?`} It has ${known.join(", ")}`,
        ]),
    ...(named === undefined ? [] : [`--business: ${named}`]),
    ...approvers.flatMap((role) => {
      const problem = roleProblem(role);
      return problem === undefined ? [] : [`--approver: ${problem}`];
    }),
    ...(service === "sandbox" || isAddress(apiUrl)
      ? []
      : [
          apiUrl === ""
            ? "--api-url is missing: the address of the Payments Service"
            : `--api-url must be an https:// address, not “${apiUrl}”`,
        ]),
    ...(service === "sandbox" || businessId !== ""
      ? []
      : ["--business-id is missing: the business's id at the Payments Service"]),
  ];
}

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.search !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isThisMachine(url.hostname));
}

/** Returns the files that `init` writes for valid answers. */
export function filesFor(answers: InitAnswers, folder: string): InitFile[] {
  const { service, playbook } = answers;
  const file = `${playbook}.yaml`;
  const text = playbookText(answers);
  return [
    { path: file, text, mode: 0o644 },
    { path: fixturesOf(file), text: testsText(text, file), mode: 0o644 },
    ...(service === "real" ? realFiles(answers) : []),
    // Payrun's own folder contains people's tokens.
    {
      path: ".gitignore",
      text: `.payrun/\n${service === "real" ? ".env\nsecrets/\n" : ""}`,
      mode: 0o644,
    },
    // Git may check out text with CRLF, and then the containers' shells can't run their scripts.
    { path: ".gitattributes", text: "*.sh text eol=lf\n", mode: 0o644 },
    ...composeFiles(folder, service),
  ];
}

function playbookText({ playbook, approvers }: InitAnswers): string {
  const document = parseDocument(exampleText(playbook));
  if (approvers !== undefined) {
    document.set("approve", document.createNode([{ by: approvers }], { flow: false }));
    // It belongs to the removed rules, and may name the people who approve now.
    document.delete("escalate");
  }
  return document.toString(YAML_STYLE).replace(/^# yaml-language-server.*\n(#\n)?/, "");
}

/** A small bill and a large one, in cents. */
const TESTED_BILLS = [10_000, 3_000_000];

/** Writes tests of what the playbook does now, so that a later change of its rules shows. */
function testsText(playbook: string, file: string): string {
  const loaded = loadPlaybook(playbook, { file });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  const { playbook: read } = loaded;
  if (read.kind !== "pay-run") throw new Error(`${file} is a ${read.kind}`);
  const flow = (value: unknown): string =>
    stringify(value, { ...YAML_STYLE, collectionStyle: "flow" }).trim();
  const tests = TESTED_BILLS.map((amountCents) => [
    `  - name: a bill of ${formatUsd(amountCents)}`,
    `    bill: ${flow({ amount: formatUsd(amountCents) })}`,
    `    expect: ${flow(expectationOf(read, amountCents))}`,
  ]);
  const about = `# Who has to approve what, for “payrun test ${file}”: write a test for each rule that matters to you.`;
  return `${[about, "tests:", ...tests.flat()].join("\n")}\n`;
}

function realFiles({ business, apiUrl, businessId }: InitAnswers): InitFile[] {
  const profiles = `# The businesses that Payrun pays for; read again when it changes. Keys: README.md and docs of Payrun.
# After a change, type: payrun trust
businesses:
  ${business}:
    apiUrl: ${JSON.stringify(apiUrl)}
    businessId: ${JSON.stringify(businessId)}
    token: \${file:${TOKEN_FILE}}
    # The secret of the webhook endpoint {PAYRUN_PUBLIC_URL}/webhooks/${business}, also in a file:
    # webhookSecrets: \${file:secrets/webhook-secret}
    # The person who accepted the ACH debit authorization; every source but the balance needs it:
    # achAuthorization: { acceptedBy: Ada Okafor, acceptedAt: 2026-01-05 }
    # Whom to notify:
    # notify: { channels: { finance: { slack: "\${file:secrets/slack-url}", roles: [controller, owner] } } }
`;
  const environment = `# After a change of this file, or of the profiles, type: payrun trust
PAYRUN_PROFILES=profiles.yaml
# Encrypts personal data and histories. Keep a copy elsewhere: without it they are lost.
PAYRUN_ENCRYPTION_KEYS=key-1:${randomBytes(32).toString("base64")}
`;
  return [
    { path: PROFILES, text: profiles, mode: OWN_MODE },
    { path: ENVIRONMENT, text: environment, mode: OWN_MODE },
  ];
}

/** Returns the commands to type next, in order. */
export function nextSteps({ service, playbook, approvers }: InitAnswers): string[] {
  if (service === "sandbox") {
    const isLocals = (approvers ?? []).every((role) => APPROVER_ROLES.includes(role));
    const [role = ""] = approvers ?? [];
    return [
      "payrun up                          in a terminal of its own",
      `payrun plan ${playbook}.yaml`,
      ...(isLocals ? [] : [`payrun token create ${role} --role ${role}`]),
      `payrun launch ${playbook}.yaml`,
      `payrun approve ${playbook} --as ${isLocals ? "approver" : role}`,
      "payrun sandbox clock --scale 43200   so that the bank's days pass in seconds",
      `payrun watch ${playbook}`,
    ];
  }
  const owned = isRoot() ? `, and chown -R ${IMAGE_USER} secrets` : "";
  return [
    `mkdir -p secrets && chmod 700 secrets, then put the service's token into ${TOKEN_FILE}${owned}`,
    `payrun validate ${playbook}.yaml`,
    "docker compose up --build --detach",
    `${IN_CONTAINER} token bootstrap ADA BEA   the first two administrators`,
    `${IN_CONTAINER} doctor`,
    "or, to try it on this machine without containers:",
    "payrun up --no-sandbox               in a terminal of its own",
    "payrun token bootstrap ADA BEA       the first two administrators",
    "export PAYRUN_PROFILES=profiles.yaml PAYRUN_TOKEN=…   with Ada's token, to act as Ada",
    "payrun doctor",
  ];
}

/** The default name of the business; `up` has only the sandbox's. */
export const DEFAULT_BUSINESS = { sandbox: SANDBOX_BUSINESS, real: "acme" } as const;
