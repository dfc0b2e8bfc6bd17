import type { Command } from "@commander-js/extra-typings";

import type { RunStatus } from "../../api/runs.ts";
import { formatUsd } from "../../domain/money.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { collect } from "../terminal/collect.ts";
import { gatewayOf, type GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";
import { findRunId } from "../client/run-id.ts";
import { findEach } from "../client/names.ts";
import type { CommandContext, Session } from "../client/session.ts";
import { PlanDigest } from "../show/plan.ts";
import { hasEnded } from "../show/run.ts";
import { count, green } from "../terminal/text.ts";
import { pollRun } from "../show/wait-for-run.ts";
import { decideTopUp } from "./decide-deposit.ts";
import { type Decision, DecisionBody } from "../../api/schemas.ts";

/** Planning takes seconds; who approves right after a launch waits for it. */
const PLAN_LIMIT_MS = 60_000;

interface DecideOptions {
  readonly drop?: string[] | undefined;
  readonly planHash?: string | undefined;
  readonly reason?: string | undefined;
  readonly topUp?: true | undefined;
  readonly yes?: true | undefined;
  readonly json?: true | undefined;
}

export function addApproveCommand(program: Command, session: Session): void {
  program
    .command("approve")
    .description("approve a run's plan, as far as your role counts and its stage is open")
    .argument("<id>", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--drop <bill>", "leave this bill out: its number or id; may be repeated", collect)
    .option("--plan-hash <hash>", "the plan you have seen; refused where it has changed")
    .option("--reason <text>", "a remark to keep with it")
    .option("--top-up", "approve the deposit that it asks for, and no bill")
    .option("-y, --yes", "do not ask")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, (context) => decide(context, "approve", id, options)),
    );
}

export function addRejectCommand(program: Command, session: Session): void {
  program
    .command("reject")
    .description("reject a run's plan: nothing more of it is paid")
    .argument("<id>", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--plan-hash <hash>", "the plan you have seen; refused where it has changed")
    .option("--reason <text>", "why")
    .option("--top-up", "refuse the deposit that it asks for, and no bill")
    .option("-y, --yes", "do not ask")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, (context) => decide(context, "reject", id, options)),
    );
}

async function decide(
  { output, config }: CommandContext,
  decision: "approve" | "reject",
  text: string,
  options: DecideOptions,
): Promise<ExitCode> {
  const gateway = gatewayOf(config());
  const id = await findRunId(gateway, text);
  if (options.topUp === true) return decideTopUp({ output, gateway }, decision, id, options);
  const bills = await findEach(gateway, options.drop ?? [], { kind: "bill", run: id });
  const drop = bills.map((bill) => bill.id);
  const planHash =
    options.planHash === undefined
      ? await seenPlan(output, gateway, id, decision, options)
      : await wholeHash(gateway, id, options.planHash);
  if (planHash === undefined) return EXIT.failed;
  const { reason } = options;
  const answer = await gateway.post(`/v1/runs/${encodeURIComponent(id)}/decisions`, DecisionBody, {
    decision,
    planHash,
    ...(drop.length === 0 ? {} : { drop }),
    ...(reason === undefined ? {} : { comment: reason }),
  });
  output.lines(decisionLines(answer));
  output.document(answer);
  return EXIT.done;
}

/** Digits of a plan's hash that stand for it: as many as `status` shows. */
const HASH_DIGITS = 12;

/** The plan's hash where a person has typed its beginning; else what they typed, for the refusal. */
async function wholeHash(gateway: GatewayClient, id: string, typed: string): Promise<string> {
  const { planHash } = await gateway.run(id);
  const isBeginning = typed.length >= HASH_DIGITS && planHash?.startsWith(typed) === true;
  return isBeginning ? planHash : typed;
}

/** The plan that the person at the terminal has just been shown, or undefined where they said no. */
async function seenPlan(
  output: Output,
  gateway: GatewayClient,
  id: string,
  decision: "approve" | "reject",
  { yes, json }: DecideOptions,
): Promise<string | undefined> {
  const run = await pollRun(gateway, id, {
    until: (now) => now.planHash !== null || hasEnded(now),
    limitMs: PLAN_LIMIT_MS,
  });
  const { planHash } = run;
  if (planHash === null) {
    throw new CliError(EXIT.failed, `${id} has no plan to decide on (${run.phase})`, {
      code: "no_plan",
    });
  }
  const canAsk = process.stdin.isTTY && process.stdout.isTTY;
  if (yes === true || json === true || !canAsk) return planHash;
  output.lines(await shown(gateway, run));
  const { confirm, isCancel } = await import("@clack/prompts");
  const message = decision === "approve" ? "Approve this plan?" : "Reject this plan?";
  const answer = await confirm({ message, initialValue: false });
  if (isCancel(answer) || !answer) {
    output.note("Nothing was decided.");
    return undefined;
  }
  return planHash;
}

/** The plan and what of it is open, over all its bills, page by page. */
async function shown(gateway: GatewayClient, run: RunStatus): Promise<string[]> {
  const digest = new PlanDigest();
  let open = 0;
  for await (const { payments } of gateway.pagesOf(run)) {
    digest.add(payments);
    open += payments.filter(({ state }) => state === "awaiting-approval").length;
  }
  return [
    ...(run.plan === undefined ? [] : digest.totals(run.plan)),
    ...digest.oddLines(),
    `${count(open, "bill")} wait for approval.`,
  ];
}

/** What a decision came to, for people. */
export function decisionLines(answer: Decision): string[] {
  if (answer.decision === "reject") return [`${green("✓")} rejected`];
  const dropped =
    answer.dropped.length === 0 ? "" : `, ${count(answer.dropped.length, "bill")} left out`;
  return [
    `${green("✓")} approved: it counts for ${count(answer.countsForCount, "bill")}${dropped}`,
    ...(answer.tooEarly === undefined
      ? []
      : [`  not yet for ${count(answer.tooEarly.length, "bill")}: an earlier stage decides first`]),
    ...answer.missing.map(({ by, quorum, approvals, lines, totalCents, stage, stages }) => {
      const of = stage === undefined ? "" : ` (stage ${stage} of ${stages})`;
      return `  still needed: ${quorum - approvals} more of ${by.join(", ")}${of} for ${count(lines, "bill")}, ${formatUsd(totalCents)}`;
    }),
  ];
}
