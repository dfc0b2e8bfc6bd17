import type { NoticeText } from "./run-texts.ts";

const WHO = "If nobody of yours did that, find out who can write to Temporal.";

/** Why a workflow of Payrun's doesn't go on, although Temporal shows it as running. */
export type Stopped = "tasks-fail" | "tasks-late" | "tasks-wait" | "id-taken";

/** How a workflow stands that doesn't go on, and what people look at before they end it. */
export interface HowStopped {
  readonly is: string;
  /** The beginning of a sentence that goes on with how to end it. */
  readonly see: string;
}

/** Says how a workflow stands that doesn't go on. */
export function howStopped(why: Stopped): HowStopped {
  return STOPS[why];
}

/** Notifies of a workflow that doesn't go on, and nothing else would say so. */
export function workflowStoppedNotice(workflowId: string, why: Stopped): NoticeText {
  const { is, because, first, isOurs = false } = STOPS[why];
  const text = [
    because,
    `What to do: ${first} end it in Temporal (temporal workflow terminate --workflow-id '${workflowId}'). Within a minute a new workflow goes on from the store, which has everything that was sent. If it could have sent something, it is on hold until you release that hold.`,
  ];
  if (!isOurs) text.push(WHO);
  return { subject: `${workflowId} ${is}`, text: text.join("\n") };
}

interface Stop extends HowStopped {
  readonly because: string;
  readonly first: string;
  /** True if the cause is Payrun's own processes: nobody has done anything. */
  readonly isOurs?: boolean;
}

const STOPS: Readonly<Record<Stopped, Stop>> = {
  "tasks-fail": {
    is: "can't go on: its tasks fail again and again",
    see: "See who has done that, then",
    because:
      "Its history is not what Payrun's workers write, or no worker can read it. Nothing of it is paid or followed meanwhile.",
    first: "see whether payrun doctor misses a key or a worker; otherwise",
  },
  "tasks-late": {
    is: "doesn't go on: no worker finishes its tasks in time",
    see: "It goes on by itself once its workers have time: look at their load and their logs, and restart one that stands still. If they have nothing else to do,",
    because:
      "Payrun's workers take its tasks and don't finish them in time: they are busy with something else, or stand still. Nothing of it is paid or followed meanwhile.",
    first:
      "look at the load and the logs of the workers, and restart one that stands still; it then goes on by itself. Only if it doesn't, although they have nothing else to do,",
    isOurs: true,
  },
  "tasks-wait": {
    is: "doesn't go on: no worker takes its tasks",
    see: "See whether its workers are too busy, or who has given its tasks to others, then",
    because:
      "Payrun's workers are at work and don't get its tasks: somebody may have given it to others in Temporal (its version, for example). Nothing of it is paid or followed meanwhile.",
    first: "see in Temporal where its tasks go and whether payrun doctor misses a worker; then",
  },
  "id-taken": {
    is: "doesn't run: another workflow has its id",
    see: "See who has done that, then",
    because:
      "A workflow that is not Payrun's, that no worker of Payrun's serves, or that somebody has put off, runs under this id, so Payrun's own can't start. Nothing of it is paid or followed meanwhile.",
    first: "see in Temporal who has started it, then",
  },
};
