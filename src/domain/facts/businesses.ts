import { workflowStoppedNotice as textOfStopped, type Stopped } from "../notices/temporal-texts.ts";
import { accountRemoved, type SourceUse } from "../notices/source-texts.ts";
import { remedyOf } from "../step-trouble.ts";
import { any, fact, news, text, toOperators, whole } from "./fact.ts";

const wakes = () => [{ kind: "wait" }] as const;

/**
 * A fault of the whole business, or of the funding source that is the subject. The service's own
 * words stay out of the trail: they may name people.
 */
export const waitBegan = fact("wait.began", { code: text }, { wakes });
export const waitEnded = fact(
  "wait.ended",
  { code: text, tries: whole, sinceMs: whole },
  { wakes },
);

/** The subject of entries about the store itself. */
export const STORE = "store";

export const storeBehind = fact(
  "store.behind",
  {
    evidence: text,
    holdId: text,
    serviceMs: whole.nullable(),
    businessMs: whole.nullable(),
    noticedAtMs: whole,
  },
  {
    notifies: toOperators(
      "store-behind",
      ({
        holdId,
        evidence,
        is,
        reason,
      }: Record<"holdId" | "evidence" | "is" | "reason", string>) => ({
        factKey: holdId,
        subject: `Everything is on hold: the store ${is} older than what was done with it`,
        text: `${reason}\n\nWhat to do: payrun payments --since BACKUP_DAY lists the service's payments and which of them the store has no record of; payrun holds shows the hold, ${holdId}; payrun release ends it.`,
        data: { holdId, evidence },
      }),
    ),
  },
);

export const eventStarted = fact("event.started", { playbook: text, revision: whole, events: any });

export const webhooksResumed = fact("webhooks.resumed", { url: text.nullish() });

interface Endpoint {
  readonly id: string;
  readonly url: string | null | undefined;
  readonly factKey: string;
}

interface Paused extends Endpoint {
  /** False if only the deliveries let one think so. */
  readonly isShown: boolean;
  /** What Payrun has done about it. */
  readonly outcome: string;
}

export const webhooksPaused = news(
  toOperators("webhooks-paused", ({ id, url, factKey, isShown, outcome }: Paused) => ({
    factKey,
    subject: `The service ${isShown ? "has" : "may have"} paused our webhook endpoint`,
    text: [
      `Endpoint ${id} (${url}) gets no webhooks${isShown ? "" : ": the last deliveries have all failed, and the service doesn't show whether it is paused"}. ${outcome}`,
      "Payments are followed by polling meanwhile, so changes are found later; nothing is lost.",
      `What to do: make sure that ${url} can be reached from the internet and that webhookSecrets has the endpoint's secret; then resume the endpoint in the service's dashboard, if Payrun has not by then.`,
    ].join("\n"),
    data: { endpointId: id, url, state: "paused", outcome },
  })),
);

export const webhooksBack = news(
  toOperators("webhooks-paused", ({ id, url, factKey }: Endpoint) => ({
    factKey: `${factKey}, over`,
    subject: "Our webhook endpoint gets webhooks again",
    text: `Webhooks arrive again at ${url} (endpoint ${id}). There is nothing to do.`,
    data: { endpointId: id, url, state: "active" },
  })),
);

interface RemovedSource {
  readonly sourceId: string;
  /** Which event made Payrun look. */
  readonly asked: number | string;
  readonly uses: readonly SourceUse[];
  readonly isShown: boolean;
}

export const sourceRemoved = news(
  toOperators("funding-source-removed", ({ sourceId, asked, uses, isShown }: RemovedSource) => ({
    factKey: `${sourceId}/${asked}`,
    ...accountRemoved(sourceId, uses, isShown),
    data: { sourceId, uses },
  })),
);

/** A step of a workflow fails again and again; its subject is the workflow. */
export const stepFailed = fact(
  "step.failed",
  { step: text, reason: text },
  {
    once: true,
    notifies: toOperators(
      "step-failed",
      ({ subject: owner, step, reason, askedAtMs }: Failed & { readonly askedAtMs: number }) => ({
        ...failing(owner, step, reason),
        factKey: `${owner}/${step}/${askedAtMs}`,
        runId: owner,
      }),
    ),
  },
);

type Failed = Record<"subject" | "step" | "reason", string>;

/** The same of a workflow that the store doesn't know: the trail has nothing that it says. */
export const unknownStepFailed = news(
  toOperators("step-failed", ({ step, day }: Record<"step" | "day", string>) => ({
    ...failing("a workflow that the store doesn't know", step, "its worker's log says why"),
    factKey: `${step}/${day}`,
  })),
);

function failing(owner: string, step: string, reason: string) {
  return {
    subject: `${step} of ${owner} has failed`,
    text: [`${step} has failed several times: ${reason}`, remedyOf(reason)].join("\n"),
    data: { step, reason },
  };
}

/** A step that is nobody's workflow: the safety net, or sending signals. */
export const stepLastsFailing = news(
  toOperators(
    "step-failed",
    ({ step, reason, since, day }: Record<"step" | "reason" | "since" | "day", string>) => ({
      factKey: `${step}/${day}`,
      subject: `${step} has been failing since ${since}`,
      text: [
        `${step} fails: ${reason}`,
        "It is tried again and again, and nothing else waits for it. What to do: look at the log, and fix the cause.",
      ].join("\n"),
      data: { step, reason, since },
    }),
  ),
);

export const queueUnserved = news(
  toOperators(
    "no-worker",
    ({
      taskQueue,
      stands,
      serve,
      day,
    }: Record<"taskQueue" | "stands" | "serve" | "day", string>) => ({
      factKey: `${taskQueue}/${day}`,
      subject: `No worker works on the task queue ${taskQueue}`,
      text: [
        `${stands} until one does.`,
        `What to do: start one with “payrun worker”, or “payrun worker --serve ${serve}”, and look at the log of the one that was there. “payrun doctor” says when it is over.`,
      ].join("\n"),
      data: { taskQueue, serve },
    }),
  ),
);

interface StoppedWorkflow {
  readonly workflowId: string;
  /** Temporal's id of the execution. */
  readonly executionId: string;
  readonly why: Stopped;
}

export const workflowStopped = news(
  toOperators("workflow-stopped", ({ workflowId, executionId, why }: StoppedWorkflow) => ({
    factKey: `${executionId}/${why}`,
    ...textOfStopped(workflowId, why),
    data: { workflowId, why },
  })),
);

const started = (of: string) =>
  fact(`${of}.follower-started`, { workflowId: text, workflow: text });

/** A row had lost its workflow, and got a new one. */
export const FOLLOWER_STARTED = {
  payRun: started("run"),
  retryFailedPayment: started("retry"),
  kybOnboarding: started("onboarding"),
  cancelScheduledPayments: started("cancellation"),
  fundingIncident: started("incident"),
};

/** Notices that everybody got, and that are deleted. */
export const noticesForgotten = fact("notices.forgotten", { told: any });
export const noticeRetried = fact("notice.retried", { kind: text, deliveries: whole });
