import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { ApplicationFailure, NamespaceNotFoundError } from "@temporalio/common";
import { TASK_QUEUE } from "../contracts/names.ts";
import { WORKFLOW, WORKFLOW_KINDS, type WorkflowKind } from "../contracts/workflow-kinds.ts";
import { GRPC, grpcCode, grpcDetails } from "../temporal/grpc.ts";
import { signalToLook } from "../temporal/signal.ts";
import { startOrSignal } from "../temporal/start.ts";
import { GatewayError, unprocessable } from "./errors.ts";

/** The time limit of every call: a person waits for it. */
const CALL_TIMEOUT_MS = 5_000;

const RETRY_AFTER_MS = 200;

/**
 * Starts the workflow of a row, or signals the running one to look.
 *
 * @throws GatewayError 503 if Temporal can't be reached: the row stays, and the janitor starts the
 * workflow
 */
export async function startWorkflow<Start>(
  client: Client,
  kind: WorkflowKind<Start>,
  start: Start,
): Promise<void> {
  await persistently(client, () => startOrSignal(client, kind, start)).catch((error: unknown) => {
    if (!(error instanceof GatewayError) || error.status !== 503) throw error;
    throw new GatewayError(error.code, `${error.message} ${KEPT}`);
  });
}

const KEPT = "What was asked for is kept, and starts by itself once that is fixed.";

/**
 * Signals a workflow to look at the store.
 *
 * @returns false if no such workflow runs
 * @throws GatewayError 503 if Temporal can't be reached
 */
export async function signalLook(client: Client, workflowId: string): Promise<boolean> {
  return once(client, () => signalToLook(client, workflowId));
}

/** Starts the retry of a failed payable, or signals the running one to look. */
export async function signalRetry(
  client: Client,
  business: string,
  payableId: string,
): Promise<void> {
  const kind = WORKFLOW_KINDS.retryFailedPayment;
  await once(client, () => startOrSignal(client, kind, { business, payableId }));
}

/**
 * Runs a dry plan on a worker and waits for it.
 *
 * @throws GatewayError 504 if no worker finished it in time, 502 or 503 if the service could not be
 * read, 422 with the planner's reason
 */
export async function runDryPlan(
  client: Client,
  plan: { readonly workflowId: string; readonly input: object; readonly timeoutMs: number },
): Promise<void> {
  const handle = await persistently(client, () =>
    client.workflow.start(WORKFLOW.planDry, {
      workflowId: plan.workflowId,
      taskQueue: TASK_QUEUE,
      args: [plan.input],
      workflowExecutionTimeout: plan.timeoutMs + 60_000,
      staticSummary: "Dry plan: nothing is paid",
    }),
  );
  try {
    await client.withDeadline(Date.now() + plan.timeoutMs, () => handle.result());
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw planFailure(error);
    if (grpcCode(error) === GRPC.deadlineExceeded) {
      await handle.terminate("Nobody waits for it any more").catch(() => undefined);
      throw new GatewayError(
        "plan_timeout",
        `No worker finished the plan within ${Math.round(plan.timeoutMs / 1000)} seconds; ` +
          "is one running? “payrun worker” starts one.",
      );
    }
    throw unreachable(error) ?? error;
  }
}

/** @returns true if Temporal answers now and has the namespace */
export async function temporalAnswers(client: Client, timeoutMs: number): Promise<boolean> {
  try {
    await within(client, timeoutMs, () =>
      client.workflowService.describeNamespace({ namespace: client.options.namespace }),
    );
    return true;
  } catch {
    return false;
  }
}

/** Tries once: the caller tries again in its own time. */
async function once<T>(client: Client, fn: () => Promise<T>): Promise<T> {
  try {
    return await within(client, CALL_TIMEOUT_MS, fn);
  } catch (error) {
    throw unreachable(error) ?? error;
  }
}

/**
 * Tries again while Temporal can't be reached, until the time limit, so that a restart goes
 * unnoticed. A call that used up all the time gets a second try, because a server occasionally
 * drops one.
 */
export async function persistently<T>(client: Client, fn: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + CALL_TIMEOUT_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      return await once(client, fn);
    } catch (error) {
      const worthIt = error instanceof GatewayError && error.code === "temporal_unreachable";
      const isOver = tries > 1 && performance.now() + RETRY_AFTER_MS > deadline;
      if (!worthIt || isOver) throw error;
      await sleep(RETRY_AFTER_MS);
    }
  }
}

/**
 * Also limits a call by a timer of this process. A call that was given up may still take effect
 * later; that is harmless, since it is a second signal, or a start that joins.
 */
async function within<T>(client: Client, timeoutMs: number, fn: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const sent = client.withDeadline(Date.now() + timeoutMs, fn);
  try {
    return await Promise.race([
      sent,
      sleep(timeoutMs, undefined, { signal: done.signal, ref: false }).then(() => {
        throw lost();
      }),
    ]);
  } finally {
    done.abort();
    sent.catch(() => undefined);
  }
}

function lost(): GatewayError {
  return new GatewayError(
    "temporal_unreachable",
    "Temporal can't be reached right now: start the one that TEMPORAL_ADDRESS names; if it names none, “payrun up” or “temporal server start-dev” starts one.",
  );
}

/**
 * Returns the 503 for whatever Temporal fails by: it can't be reached, is overloaded or starting, or
 * a start has met the end of a run of the same id. Returns undefined for an error of ours, such as
 * an invalid argument.
 */
function unreachable(error: unknown): GatewayError | undefined {
  if (error instanceof NamespaceNotFoundError) {
    const text = `Temporal has no namespace “${error.namespace}”: create it, or set TEMPORAL_NAMESPACE.`;
    return new GatewayError("temporal_namespace_missing", text);
  }
  if (isRace(error)) return refusedNow(error.message);
  const code = grpcCode(error);
  if (code === undefined) return undefined;
  if (code === GRPC.invalidArgument) {
    if (!/search attribute/i.test(grpcDetails(error))) return undefined;
    return new GatewayError(
      "search_attributes_missing",
      "Temporal doesn't know Payrun's search attributes yet; a worker registers them, within a minute.",
    );
  }
  const gone: readonly number[] = [GRPC.cancelled, GRPC.deadlineExceeded, GRPC.unavailable];
  return gone.includes(code) ? lost() : refusedNow(grpcDetails(error));
}

/** True for what Temporal says of a start, or of a signal with a start, only while a run ends. */
function isRace(error: unknown): error is Error {
  return (
    error instanceof WorkflowNotFoundError || error instanceof WorkflowExecutionAlreadyStartedError
  );
}

function refusedNow(details: string): GatewayError {
  const text = `Temporal doesn't take it right now: ${details || "it gives no reason"}.`;
  return new GatewayError("temporal_unreachable", text);
}

/** Names of the errors that an activity ends with if the Payments Service can't be read. */
const SERVICE_FAILURES = [
  "PaymentsApiError",
  "NoAnswerError",
  "UnexpectedAnswerError",
  "TokenUnavailableError",
] as const;

function planFailure(error: WorkflowFailedError): GatewayError {
  let failure: Error = error;
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    failure = at;
    if (at instanceof ApplicationFailure) break;
  }
  const type = failure instanceof ApplicationFailure ? failure.type : undefined;
  if (!SERVICE_FAILURES.some((name) => name === type))
    return unprocessable("plan_failed", failure.message);
  return new GatewayError(
    type === "NoAnswerError" ? "service_unreachable" : "api_unavailable",
    `The Payments Service could not be read: ${failure.message}. Check its address and the token.`,
  );
}
