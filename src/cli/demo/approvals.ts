import { z } from "zod";

import { LINE } from "../../contracts/line-states.ts";
import type { RunStatus } from "../../api/runs.ts";
import { formatUsd } from "../../domain/money.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import { decisionLines } from "../commands/decide.ts";
import { isWorthALook, nameOf } from "../show/plan.ts";
import { canAsk } from "../terminal/confirm.ts";
import { dim, printable, red } from "../terminal/text.ts";
import { asAnotherSystem, OVER_HTTP, gatewayRefusalText } from "./another-system.ts";
import { type Demo, runIdOf } from "./context.ts";
import type { DemoPerson } from "./people.ts";
import { type DecisionView, DecisionBody } from "../../api/schemas.ts";

/** The launcher tries to approve its own run and is refused. */
export async function launcherIsRefused(demo: Demo, run: RunStatus): Promise<void> {
  const { narrator, gateway, people } = demo;
  try {
    await decide(gateway.as(people.token("launcher")), run, "approve", []);
    throw new CliError(EXIT.failed, "the launcher's own approval was taken: it must not be");
  } catch (error) {
    if (!(error instanceof CliError) || error.code === "failed") throw error;
    narrator.line(`${red("✗")} launcher approves: ${gatewayRefusalText(error)}`);
  }
}

/**
 * Makes the controller's decision: the reader decides on a terminal, another system elsewhere.
 *
 * @returns false if the plan was rejected
 */
export async function controllerDecides(demo: Demo, run: RunStatus): Promise<boolean> {
  const suggested = demo.state.dropped ?? suggestedDrop(run);
  if (canAsk({ json: false }) && demo.state.dropped === undefined) {
    return readerDecides(demo, run, suggested);
  }
  demo.remember({ dropped: suggested });
  for (const line of run.payments.filter(({ payableId }) => suggested.includes(payableId))) {
    demo.narrator.line(
      dim(`left out: ${nameOf(line)}, ${formatUsd(line.amountCents)}, a likely duplicate`),
    );
  }
  await anotherSystemApproves(demo, "controller", suggested);
  return true;
}

/** Starts another process, which approves over HTTP with its own token. */
export async function anotherSystemApproves(
  demo: Demo,
  person: DemoPerson,
  drop: readonly string[] = [],
): Promise<void> {
  const said = await asAnotherSystem(demo, person, [
    "--approve",
    runIdOf(demo),
    ...drop.flatMap((payableId) => ["--drop", payableId]),
  ]);
  if (said.refusal === undefined) {
    for (const answer of z.array(DecisionBody).parse(said.answers)) {
      tell(demo, person, answer, OVER_HTTP);
    }
    return;
  }
  const { code, message } = said.refusal;
  if (code !== "nothing_left") {
    throw new CliError(EXIT.failed, `the ${person}'s approval was refused: ${message}`);
  }
  demo.narrator.line(dim(`${person}: ${message}`));
}

async function readerDecides(
  demo: Demo,
  run: RunStatus,
  suggested: readonly string[],
): Promise<boolean> {
  const { multiselect, select, isCancel } = await import("@clack/prompts");
  const choice = await select({
    message: "You are the controller. Approve this plan?",
    options: [
      { value: "approve", label: "Yes, approve it" },
      { value: "drop", label: "Approve it, but leave some bills out" },
      { value: "reject", label: "No, reject it: nothing is paid" },
    ],
    initialValue: "drop",
  });
  if (isCancel(choice)) return stopHere(demo);
  let drop: readonly string[] = [];
  if (choice === "drop") {
    const chosen = await multiselect({
      message: "Which ones stay unpaid? (space chooses, enter goes on)",
      options: run.payments.filter(isWorthALook).map((line) => ({
        value: line.payableId,
        label: `${printable(line.contactName ?? line.payableId)}, ${formatUsd(line.amountCents)}: ${line.flags.map(({ kind }) => kind).join(", ")}`,
      })),
      initialValues: [...suggested],
      required: false,
    });
    if (isCancel(chosen)) return stopHere(demo);
    drop = chosen;
  }
  const decision = choice === "reject" ? "reject" : "approve";
  const as = demo.gateway.as(demo.people.token("controller"));
  tell(demo, "controller", await decide(as, run, decision, drop), "you");
  demo.remember({ dropped: [...drop] });
  return decision === "approve";
}

/** The prompt receives the terminal's Ctrl-C, not us. */
function stopHere({ supervision }: Demo): Promise<never> {
  supervision.interrupt();
  return new Promise<never>(() => undefined);
}

function decide(
  gateway: Demo["gateway"],
  run: RunStatus,
  decision: "approve" | "reject",
  drop: readonly string[],
): Promise<DecisionView> {
  return gateway.post(`/v1/runs/${encodeURIComponent(run.id)}/decisions`, DecisionBody, {
    decision,
    planHash: run.planHash ?? "",
    drop,
  });
}

/** Suggests the bill that looks like a duplicate of a paid one; otherwise the smallest flagged. */
function suggestedDrop(run: RunStatus): string[] {
  const odd = run.payments
    .filter((line) => isWorthALook(line) && LINE.waiting.includes(line.state))
    .toSorted((one, other) => one.amountCents - other.amountCents);
  const duplicate = odd.find(({ flags }) => flags.some(({ kind }) => kind === "likely-duplicate"));
  const chosen = duplicate ?? odd[0];
  return chosen === undefined ? [] : [chosen.payableId];
}

function tell(demo: Demo, person: DemoPerson, answer: DecisionView, how: string): void {
  const [first = "", ...rest] = decisionLines(answer);
  demo.narrator.line(`${first}  ${dim(`${person}, ${how}`)}`);
  for (const line of rest) demo.narrator.text(line);
}
