import type { Command } from "@commander-js/extra-typings";

import { definedOnly } from "../../contracts/defined-only.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import type { MoneyReach } from "../../domain/approvals/money-reach.ts";
import { effectText } from "../../domain/approvals/share-texts.ts";
import { formatUsd } from "../../domain/money.ts";
import { CliError, EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { collect } from "../terminal/collect.ts";
import { gatewayOf, type GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";
import { findRunId } from "../client/run-id.ts";
import { findEachMeant } from "../client/names.ts";
import { wholeHash } from "../client/named-hash.ts";
import { asApprover } from "../home/people.ts";
import type { CommandContext, CliSession, SpokenConfig } from "../client/session.ts";
import { noteNobodyWorks } from "../show/conditions.ts";
import { reviewDigest, reviewHead, shortLines } from "../show/review.ts";
import { hasEnded } from "../show/run.ts";
import { asked, canAsk, requireYes } from "../terminal/confirm.ts";
import { dim, green } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { pollRun } from "../show/wait-for-run.ts";
import type { VerifiedBankChange } from "../../domain/approvals/bank-changes.ts";
import { askVerified, verifiedIn } from "./bank-changes.ts";
import { confirmAccounts } from "./confirm-accounts.ts";
import { wordCommand } from "../../domain/approvals/changed-records.ts";
import { decideTopUp } from "./decide-deposit.ts";
import type { RunReview } from "../../api/review.ts";
import { type DecisionView, DecisionBody } from "../../api/schemas.ts";

/** Planning takes seconds; an approval right after a launch waits for it. */
const PLAN_LIMIT_MS = 60_000;

interface DecideOptions {
  readonly drop?: string[] | undefined;
  readonly planHash?: string | undefined;
  readonly reason?: string | undefined;
  readonly verified?: string[] | undefined;
  readonly sameAccount?: string[] | undefined;
  readonly topUp?: true | undefined;
  readonly yes?: true | undefined;
  readonly json?: true | undefined;
}

export function addApproveCommand(program: Command, session: CliSession): void {
  program
    .command("approve")
    .description("approve a run's plan, as far as your role counts and its stage is open")
    .argument("<run>", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--drop <bill>", "leave this bill out: its number or id; may be repeated", collect)
    .option("--plan-hash <hash>", "the plan you have seen; refused if it has changed")
    .option("--reason <text>", "a remark to keep with it")
    .option(
      "--verified <vendor=person, number>",
      "whom you called, on which known number, about a vendor's changed bank account; may be repeated",
      collect,
    )
    .option(
      "--same-account <vendor>",
      "say only that this vendor's account is still right although its record was changed: its name or id, or “all”; may be repeated",
      collect,
    )
    .option("--top-up", "approve only the deposit that the run requests, and no bill")
    .option("-y, --yes", "do not ask; needed if there is no terminal")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, (context) => decide(context, "approve", id, options)),
    );
}

export function addRejectCommand(program: Command, session: CliSession): void {
  program
    .command("reject")
    .description("reject a run's plan: nothing more of it is paid")
    .argument("<run>", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--plan-hash <hash>", "the plan you have seen; refused if it has changed")
    .option("--reason <text>", "why")
    .option("--top-up", "reject only the deposit that the run requests, and no bill")
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
  if (options.sameAccount !== undefined) requireWordAlone(options);
  if (decision === "approve") requireYes("approve", { output, yes: options.yes });
  const gateway = gatewayOf(config());
  const id = await findRunId(gateway, text);
  if (options.sameAccount !== undefined) {
    return confirmAccounts({ output, gateway }, id, { ...options, vendors: options.sameAccount });
  }
  if (options.topUp === true) return decideTopUp({ output, gateway }, decision, id, options);
  const bills = await findEachMeant(gateway, options.drop ?? [], { kind: "bill", run: id });
  const drop = bills.map((bill) => bill.id);
  const planHash = await planToDecideOn(gateway, id, options.planHash);
  const { reason, verified: texts = [] } = options;
  const isAsked = options.yes === undefined && canAsk(output);
  // A rejection without a prompt contains nothing that the plan's review could change.
  const isRead = isAsked || texts.length > 0 || decision === "approve";
  const review = isRead ? await gateway.review(id, { pageSize: 1, drop }) : undefined;
  const verified = await agreedTo(output, decision, { id, planHash, review, texts, isAsked });
  if (verified === undefined) {
    output.note("Nothing was decided.");
    return EXIT.failed;
  }
  const answer = await gateway
    .post(`/v1/runs/${encodeURIComponent(id)}/decisions`, DecisionBody, {
      decision,
      planHash,
      ...(drop.length === 0 ? {} : { drop }),
      ...definedOnly({ comment: reason }),
      ...(verified.length === 0 ? {} : { verifiedBankChanges: verified }),
    })
    .catch((error: unknown) => {
      throw withRun(withAnother(error, `payrun approve ${shortName(id)}`, config()), text, id);
    });
  const money = review?.yours.money;
  output.lines(decisionLines(answer, money, shortName(id)));
  if (review !== undefined && answer.goesOut.count > 0) output.lines(shortLines(review));
  await noteNobodyWorks(gateway, output);
  output.document(answer);
  return EXIT.done;
}

/** A word about vendors' accounts approves nothing, so it takes nothing that is about bills. */
function requireWordAlone({ drop, planHash, verified, topUp }: DecideOptions): void {
  const others = {
    "--drop": drop,
    "--plan-hash": planHash,
    "--verified": verified,
    "--top-up": topUp,
  };
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other === undefined) return;
  throw usageError(
    `--same-account can't have ${other} beside it: it says only that the account is still right, and decides about no bill or deposit`,
    "give two commands, the one without --same-account first",
  );
}

/** Refusals of a decision because its author launched the run or wrote its playbook. */
const OWN_RUN: readonly string[] = ["launcher", "playbook_author"];

/**
 * Adds a hint to such a refusal: the command with the approver whose token a sandbox's home keeps.
 */
function withAnother(error: unknown, command: string, { home, person }: SpokenConfig): unknown {
  const as = asApprover(home);
  const isOwn = error instanceof CliError && OWN_RUN.includes(error.code);
  if (!isOwn || as === "" || person !== undefined) return error;
  const { exitCode, message, code, details } = error;
  return new CliError(exitCode, message, { code, details, hint: `${command}${as}` });
}

/** A playbook's name means its newest run, which may not be the one that waits. */
function withRun(error: unknown, text: string, id: string): unknown {
  const isMeant = text === id || text === shortName(id);
  if (!(error instanceof CliError) || error.code !== "run_ended" || isMeant) return error;
  const { exitCode, message, code, details } = error;
  const hint = `The newest run of that name is ${shortName(id)}; “payrun status” lists those that wait.`;
  return new CliError(exitCode, message, { code, details, hint });
}

/**
 * Returns the hash of the plan that is meant: the one that was named, in full or by its first
 * digits; otherwise the run's own, once it has one.
 */
async function planToDecideOn(
  gateway: GatewayClient,
  id: string,
  named: string | undefined,
): Promise<string> {
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
  return named === undefined ? planHash : wholeHash(planHash, named);
}

interface ToDecide extends Readonly<Record<"id" | "planHash", string>> {
  readonly review: RunReview | undefined;
  /** The values of `--verified`. */
  readonly texts: readonly string[];
  /** True if a person at a terminal is asked. */
  readonly isAsked: boolean;
}

/**
 * Shows what the decision would do, and asks.
 *
 * @returns how changed bank accounts were verified; undefined if the person said no
 */
async function agreedTo(
  output: Output,
  decision: "approve" | "reject",
  { id, planHash, review, texts, isAsked }: ToDecide,
): Promise<VerifiedBankChange[] | undefined> {
  if (review === undefined || (!isAsked && texts.length === 0)) return [];
  // The gateway refuses, with a reason, a decision that counts for nothing or is about an old plan.
  if (review.planHash !== planHash) return [];
  if (decision === "approve" && review.yours.refusal !== null) return [];
  const said = verifiedIn(texts, review.bankChanges);
  if (!isAsked) return said;
  output.lines([...reviewHead(review), ...reviewDigest(review)]);
  output.line(dim(`payrun show ${shortName(id)} lists every bill`));
  if (decision === "reject") return (await asked("Reject this plan?")) ? [] : undefined;
  const answers = await askVerified(output, review.bankChanges, said);
  if (answers === undefined || !(await asked("Approve this?"))) return undefined;
  return [...said, ...answers];
}

/** Describes a decision's effect for people. */
export function decisionLines(answer: DecisionView, money?: MoneyReach, run = "RUN"): string[] {
  const already = answer.alreadySince === undefined ? "" : " already";
  // The gateway decides from the store; the account's balance came from the service just before.
  const summary =
    money === undefined || answer.goesOut.count === 0 || already !== ""
      ? answer.summary
      : effectText({ ...answer, money });
  if (answer.decision === "reject") {
    return [`${green("✓")} rejected${already}`, `  ${answer.summary}`];
  }
  const dropped =
    answer.dropped.length === 0 ? "" : `, ${counted(answer.dropped.length, "bill")} left out`;
  return [
    `${green("✓")} approved${already}: it counts for ${counted(answer.countsForCount, "bill")}${dropped}`,
    `  ${summary}`,
    ...(answer.leftOut === undefined ? [] : [`  ${answer.leftOut}`]),
    ...(answer.tooEarly === undefined
      ? []
      : [
          `  not yet for ${counted(answer.tooEarly.length, "bill")}: an earlier stage decides first`,
        ]),
    ...answer.missing.map(
      ({ by, quorum, approvals, lines, totalCents, stage, stages, ...more }) => {
        const of = stage === undefined ? "" : ` (stage ${stage} of ${stages})`;
        const what = `for ${counted(lines, "bill")}, ${formatUsd(totalCents)}`;
        return more.aboutRecord === true
          ? `  still needed: a word of ${by.join(" or ")} ${what}: ${wordCommand(run)}`
          : `  still needed: ${quorum - approvals} more of ${by.join(", ")}${of} ${what}`;
      },
    ),
  ];
}
