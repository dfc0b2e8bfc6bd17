import { ONLY_PLANS } from "../plan-only.ts";
import { principalOf } from "../../contracts/principal.ts";
import { wordCommand } from "./changed-records.ts";
import { everyDecider, openStageOf, type StagedLine, stageText, turnOf } from "./stages.ts";

/** A line that a decision may be about. */
export interface DecidableLine {
  readonly payableId: string;
  readonly lineHash: string;
  readonly approvers: readonly string[];
  readonly quorum: number;
  /** Set if the line's rule has stages or escalates. */
  readonly staged?: StagedLine;
  /** True if it is approved, and only a word about its vendor's account is missing. */
  readonly needsWord?: boolean;
  /** True if the store shows it otherwise than it was planned, by its hash and the audit trail. */
  readonly isTampered?: boolean;
}

/** A line that an approval counts for, with the stage if its rule has any. */
export interface CountedLine extends DecidableLine {
  /** From 0. */
  readonly stage?: number;
  /** True if only the escalation allows the approver to decide. */
  readonly escalated?: boolean;
}

export interface DecisionInput {
  readonly decision: {
    readonly kind: "approve" | "reject";
    /** The plan hash that the approver saw. */
    readonly planHash: string;
    /** Payable ids that the approver drops. */
    readonly drop: readonly string[];
  };
  readonly run: {
    /** True if its phase is one of ENDED_PHASES. */
    readonly ended: boolean;
    /** Null while it has no plan. */
    readonly planHash: string | null;
    /** Who launched the run; for a run of a schedule or an event, the playbook's authors. */
    readonly launchers: readonly string[];
    readonly cancelRequested: boolean;
    /** True if its playbook says that its runs plan and do nothing else. */
    readonly onlyPlans: boolean;
    /** What the store says of it and the audit trail doesn't; missing or null if they agree. */
    readonly differs?: string | null;
  };
  readonly token: {
    readonly name: string;
    readonly roles: readonly string[];
    /** True if a launcher made it after the launch, and no other person has confirmed it. */
    readonly isLaunchers: boolean;
  };
  /** Who has changed the playbook since a second person last confirmed it. */
  readonly playbookAuthors: readonly string[];
  /** True if the business allows one person to launch and approve. */
  readonly singlePerson: boolean;
  /** Lines of the plan that still need a decision or may be dropped. */
  readonly lines: readonly DecidableLine[];
  /** Lines that were sent: leaving them out or rejecting them ends their retries. */
  readonly sent?: readonly DecidableLine[];
  /** Payables of the plan that were sent and whose payments have ended, as far as they are dropped. */
  readonly paid?: ReadonlySet<string>;
  /** Payables of the plan whose sends may still take effect. */
  readonly mayStillPay: ReadonlySet<string>;
}

export type DecisionVerdict =
  | {
      readonly accepted: true;
      /** For an approval, the lines that it counts for; for a rejection, none. */
      readonly countsFor: readonly CountedLine[];
      readonly dropped: readonly string[];
      /** Payables that it doesn't count for, because an earlier stage is open; missing if none. */
      readonly tooEarly?: readonly string[];
      /** True if it counts only because one person may launch and approve. */
      readonly alone?: boolean;
    }
  | {
      readonly accepted: false;
      readonly code:
        | "run_ended"
        | "plan_only"
        | "no_plan"
        | "stale_plan"
        | "unknown_payable"
        | "already_sent"
        | "may_be_paid"
        | "launcher"
        | "playbook_author"
        | "launchers_token"
        | "role_missing"
        | "stage_not_open"
        | "counted_before"
        | "sign_in_too_old"
        | "bank_change_unverified"
        | "stale_record"
        | "not_rejectable"
        | "trail_differs"
        | "nothing_left";
      /** One sentence for the sender of the decision. */
      readonly reason: string;
      /** Vendors for which the decision must say how their new bank account was verified. */
      readonly contactIds?: readonly string[];
    };

type Refusal = Extract<DecisionVerdict, { accepted: false }>;

/**
 * Judges whether a decision counts, and for which lines.
 *
 * These facts alone decide; the caller has checked the token or the signature. Dropping lines never
 * selects a weaker rule, because the plan stores each line's rule.
 */
export function judgeDecision(input: DecisionInput): DecisionVerdict {
  const { decision, run, lines, sent = [] } = input;
  const refusal = refusalOfRequest(input);
  if (refusal !== undefined) return refusal;
  const all = [...lines, ...sent];
  const byId = new Map(all.map((line) => [line.payableId, line]));
  const unknownId = decision.drop.find((payableId) => !byId.has(payableId));
  if (unknownId !== undefined && input.paid?.has(unknownId) === true) {
    return refuse(
      "already_sent",
      `${unknownId} was sent already, and its payment has ended, so it can't be left out any more; payrun explain ${unknownId} says what became of it`,
    );
  }
  if (unknownId !== undefined) {
    return refuse(
      "unknown_payable",
      `${unknownId} is not a line of this plan that can be left out; payrun hold puts any bill on hold`,
    );
  }
  const roles = new Set(input.token.roles);
  const mine = all.filter((line) => rolesOf(line).some((role) => roles.has(role)));
  if (mine.length === 0) return roleMissing(all.flatMap(rolesOf));
  const dropped = [...new Set(decision.drop)];
  const myIds = new Set(mine.map(({ payableId }) => payableId));
  const notMine = dropped.find((id) => !myIds.has(id));
  if (notMine !== undefined) {
    return refuse("role_missing", `your roles don't let you leave out ${notMine}`);
  }
  const open = dropped.find((id) => input.mayStillPay.has(id));
  if (open !== undefined) {
    return refuse(
      "may_be_paid",
      `a request may still pay ${open}, so it can't be left out; Payrun checks until that is known. payrun hold ${open} keeps it from being sent again`,
    );
  }
  if (decision.kind === "reject") return { accepted: true, countsFor: [], dropped: [] };
  const cancelled = refusalOfRun(run);
  if (cancelled !== undefined) return cancelled;
  const out = new Set([...dropped, ...sent.map(({ payableId }) => payableId)]);
  const rest = mine.filter((line) => !out.has(line.payableId));
  const toApprove = rest.filter(({ needsWord }) => needsWord !== true);
  const { countsFor, tooEarly, before } = turnsOf(toApprove, input.token.name, roles);
  const tampered = countsFor.find(({ isTampered }) => isTampered === true);
  if (tampered !== undefined) {
    return trailDiffers(`${tampered.payableId} is not shown as it was planned`);
  }
  if (countsFor.length === 0 && dropped.length === 0) {
    if (tooEarly[0] !== undefined) return notYet(tooEarly[0]);
    if (before[0] !== undefined) return countedBefore(before[0], input.token.name);
    const left = rest.length > toApprove.length ? `; ${WORD_INSTEAD}` : "";
    return refuse("nothing_left", `no bill of this plan needs your approval any more${left}`);
  }
  const early = tooEarly.map(({ payableId }) => payableId);
  return {
    accepted: true,
    countsFor,
    dropped,
    ...(isAlone(input) ? { alone: true } : {}),
    ...(early.length === 0 ? {} : { tooEarly: early }),
  };
}

const WORD_INSTEAD = `bills are approved and wait until somebody says that their vendors' accounts are still right: ${wordCommand("RUN")}`;

/** Returns why no person can approve anything of a run; undefined if that is possible. */
export function refusalOfRun({
  ended,
  planHash,
  cancelRequested,
  onlyPlans,
}: Omit<DecisionInput["run"], "launchers">): Refusal | undefined {
  if (onlyPlans) {
    return refuse("plan_only", `nothing of this run is paid, so nothing is decided: ${ONLY_PLANS}`);
  }
  if (ended)
    return refuse(
      "run_ended",
      "the run has ended; there is nothing left to decide. payrun hold keeps a bill of it from being sent again",
    );
  if (planHash === null) return refuse("no_plan", "the run has no plan yet; try again shortly");
  if (!cancelRequested) return undefined;
  return refuse("run_ended", "the run is being cancelled; nothing more is paid in it");
}

/**
 * Returns why a decision doesn't count, regardless of the lines; undefined if that depends on them.
 * Callers check this first, so that a person who may not decide can't cause the lines of a large
 * run to be read.
 *
 * @param deciders every role that decides about any line of the run, now or later; undefined if not
 * known
 */
export function refusalOfRequest(
  input: Omit<DecisionInput, "lines" | "mayStillPay">,
  deciders?: readonly string[],
): Refusal | undefined {
  const { decision, run, token } = input;
  const over = refusalOfRun({ ...run, cancelRequested: false });
  if (over !== undefined) return over;
  if (run.planHash !== decision.planHash) {
    return refuse(
      "stale_plan",
      "the plan has changed since you saw it; read the run again and decide on its new planHash",
    );
  }
  const mayDecide = deciders === undefined || token.roles.some((role) => deciders.includes(role));
  return refusalOfPerson(input) ?? (mayDecide ? undefined : roleMissing(deciders));
}

/** Returns the roles that may decide about a line now, even if only to stop it. */
function rolesOf({ approvers, staged }: DecidableLine): readonly string[] {
  return staged === undefined ? approvers : everyDecider(staged);
}

function turnsOf(lines: readonly DecidableLine[], name: string, roles: ReadonlySet<string>) {
  const countsFor: CountedLine[] = [];
  const tooEarly: DecidableLine[] = [];
  const before: DecidableLine[] = [];
  for (const line of lines) {
    if (line.staged === undefined) {
      countsFor.push(line);
      continue;
    }
    const turn = turnOf(line.staged, { principal: name, roles });
    if (turn.kind === "counts") {
      countsFor.push({ ...line, stage: turn.stage, escalated: turn.escalated });
    } else if (turn.kind === "too-early") tooEarly.push(line);
    else if (turn.kind === "counted-before") before.push(line);
  }
  return { countsFor, tooEarly, before };
}

function notYet(line: DecidableLine): DecisionVerdict {
  const { text, who } = openStageText(line);
  return refuse("stage_not_open", `${who} decides first: ${text} of this approval is still open`);
}

function countedBefore(line: DecidableLine, name: string): DecisionVerdict {
  const { text } = openStageText(line);
  return refuse(
    "counted_before",
    `${name} has approved in another stage; ${text} needs another person`,
  );
}

function openStageText({ staged }: DecidableLine): { text: string; who: string } {
  const stages = staged?.stages ?? [];
  const open = staged === undefined ? 0 : (openStageOf(staged) ?? 0);
  const stage = stages[open];
  return {
    text: `stage ${open + 1} of ${stages.length}`,
    who: stage === undefined ? "another person" : stageText(stage),
  };
}

type PersonInput = Pick<DecisionInput, "token" | "playbookAuthors" | "singlePerson"> & {
  readonly run: Pick<DecisionInput["run"], "launchers" | "differs">;
};

/**
 * True if this person is a launcher of the run, has a launcher's token, or is an author of the
 * playbook: their approval counts only if the business says that one person is enough.
 */
export function isAlone(input: PersonInput): boolean {
  const decision = { kind: "approve" } as const;
  return refusalOfPerson({ ...input, singlePerson: false, decision }) !== undefined;
}

/**
 * Returns the refusal of a decision because of who the principal is, regardless of its roles;
 * undefined if there is none.
 */
export function refusalOfPerson(
  input: PersonInput & { readonly decision: Pick<DecisionInput["decision"], "kind"> },
): Refusal | undefined {
  const { token, run } = input;
  const me = principalOf(token.name);
  const isMe = (name: string) => principalOf(name) === me;
  // Anyone with an approver's role may stop a run; only approving needs four eyes.
  if (input.decision.kind === "reject") return undefined;
  if (run.differs != null) return trailDiffers(run.differs);
  if (input.singlePerson) return undefined;
  if (input.playbookAuthors.some(isMe)) {
    return refuse(
      "playbook_author",
      `${token.name} has changed this playbook; another person must approve its runs`,
    );
  }
  if (run.launchers.some(isMe)) {
    return refuse("launcher", `${token.name} launched this run; another person must approve it`);
  }
  if (token.isLaunchers) {
    return refuse(
      "launchers_token",
      `this token was made by ${run.launchers.join(", ")}, who launched the run, after the launch; it can't approve it. An older token may, or the run is cancelled and launched again`,
    );
  }
  return undefined;
}

function roleMissing(deciders: readonly string[]): Refusal {
  const needed = [...new Set(deciders)].sort();
  if (needed.length === 0) {
    return refuse("nothing_left", "no bill of this plan waits for a decision");
  }
  return refuse("role_missing", `this takes one of the roles ${needed.join(", ")}`);
}

function trailDiffers(what: string): Refusal {
  const text = `the store was changed without the audit trail, so nothing is approved: ${what.replace(/\.$/, "")}. “payrun audit verify” on the store's host names all differences`;
  return refuse("trail_differs", text);
}

/** Returns the verdict that a decision doesn't count, with the reason. */
export function refuse(code: Refusal["code"], reason: string): Refusal {
  return { accepted: false, code, reason };
}
