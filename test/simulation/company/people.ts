import type { RunReview } from "../../../src/api/review.ts";
import type { Stream } from "../world/random.ts";
import { type Act, type Ask, RITA, type Temper } from "./roster.ts";
import { SaidByPeople } from "./said.ts";
import type { ProcessNode, World } from "../world/world.ts";

interface Listed {
  readonly items: readonly { readonly id: string; readonly kind: string; readonly phase: string }[];
}

interface Line {
  readonly payableId: string;
  readonly state: string;
  readonly amountCents: number;
}

interface Status {
  readonly phase: string;
  readonly planHash: string | null;
  readonly payments: readonly Line[];
}

const MINUTE_MS = 60_000;

/** How long a second run waits that the owner leaves to others. */
const LATER_MS = 90_000;

/** A worker's read of one bill, which a gate or a look follows. */
const READS_BILL = /^connect GET \/v1\/payables\/(bill_\d+)$/;

/** A retry that waits for a person. */
const OF_RETRY = /^retry-failed-payment\/.*\/(bill_\d+)$/;

interface SetHold {
  readonly id: string;
  readonly value: string;
  /** The only roles that may release it; empty if any operator may. */
  readonly roles: readonly string[];
}

/** People who launch, approve, drop, hold, release and cancel at any moment. */
export class People {
  readonly #world: World;
  readonly #ask: Ask;
  readonly #lots: Stream;
  readonly #stops: Stream;
  readonly #temper: Temper;
  /** Ids of launched runs. */
  readonly runs = new Set<string>();
  readonly said = new SaidByPeople();
  /** Bills that a person was told nothing can be done about. */
  readonly hopeless = new Set<string>();
  /** The instant from which people do nothing new, and decide everything that waits. */
  calmFromMs = Infinity;
  /** Acts that people do the next time a bill is read before it is paid. */
  readonly #armed: Act[] = [];

  constructor(world: World, ask: Ask, temper: Temper) {
    this.#world = world;
    this.#ask = ask;
    this.#temper = temper;
    this.#lots = world.stream("people");
    this.#stops = world.stream("what is stopped");
  }

  begin(): void {
    let afterMs = 2_000;
    for (const playbook of this.#temper.launches) {
      this.#later(afterMs, () => this.#launch(playbook));
      const isSoon = this.#lots.chance(this.#temper.atOnce ? 1 : 0.5);
      afterMs += isSoon ? 500 : this.#lots.between(1, 30) * MINUTE_MS;
    }
    this.#later(30_000, () => this.#decide(0));
    for (const act of this.#temper.acts) {
      const times = this.#lots.between(1, 3);
      for (let time = 0; time < times; time += 1) {
        // Mostly while the first bills are being paid, and often between a lease and its gate.
        const isSoon = this.#lots.chance(0.6);
        const soonMs = this.#lots.between(25_000, 200_000);
        const atMs = isSoon ? soonMs : this.#lots.stretched(5_000, 3 * 3_600_000);
        if (this.#lots.chance(0.5)) {
          const armsMs = isSoon ? this.#lots.between(1_000, 90_000) : atMs;
          this.#world.later(armsMs, "arm", () => this.#armed.push(act));
        } else this.#later(atMs, () => this.#act(act));
      }
    }
  }

  /** Called at each boundary of a process. */
  at(node: ProcessNode, what: string): void {
    if (this.#armed.length === 0 || node.kind !== "worker") return;
    const payableId = READS_BILL.exec(what)?.[1];
    if (payableId === undefined) return;
    const act = this.#armed.shift();
    if (act !== undefined) this.#later(0, () => this.#act(act, payableId));
  }

  /**
   * The store was restored from a backup: words since the backup are lost. After some time a person
   * compares the store with the bank, releases the hold, and launches missing runs again.
   */
  storeRestored(backedUpMs: number): void {
    this.said.forget(backedUpMs, this.#world.nowMs);
    this.#later(this.#lots.stretched(30_000, 3 * 3_600_000), async () => {
      await this.#release();
      for (const playbook of this.#temper.launches) await this.#launch(playbook);
    });
  }

  #later(afterMs: number, work: () => Promise<void>): void {
    this.#world.later(afterMs, "a person acts", () => {
      void work().catch((error: unknown) => {
        this.#world.failure ??= error instanceof Error ? error : new Error(String(error));
      });
    });
  }

  async #launch(playbook: string): Promise<void> {
    const period = new Date(this.#world.startedMs).toISOString().slice(0, 10);
    const answer = await this.#ask("lena", "POST", "/v1/runs", { playbook, period });
    const { id } = (answer?.json ?? {}) as { readonly id?: string };
    if (id !== undefined) this.runs.add(id);
    else this.#later(20_000, () => this.#launch(playbook));
  }

  /** Takes the decisions that wait: often at first, then a few times a day. */
  async #decide(turn: number): Promise<void> {
    const answer = await this.#ask("carla", "GET", "/v1/runs?needsAction=true");
    const { items = [] } = (answer?.json ?? {}) as Partial<Listed>;
    for (const { id, kind } of items) {
      if (kind === "pay-run") await this.#approve(id);
      const parked = OF_RETRY.exec(id)?.[1];
      if (parked !== undefined && this.#temper.acts.has("resolve")) await this.#resolve(parked);
    }
    const isCalm = this.#world.nowMs >= this.calmFromMs;
    if (isCalm) await this.#release();
    const { isHasty, isStubborn } = this.#temper;
    const soonMs = isHasty ? 5_000 : 2 * MINUTE_MS;
    const laterMs = isHasty ? 2 * MINUTE_MS : (isStubborn ? 50 : 180) * MINUTE_MS;
    const pauseMs = turn < 20 && !isCalm ? soonMs : laterMs;
    this.#later(pauseMs, () => this.#decide(turn + 1));
  }

  async #approve(runId: string): Promise<void> {
    const path = `/v1/runs/${encodeURIComponent(runId)}`;
    const answer = await this.#ask("carla", "GET", `${path}?skipped=false`);
    const { planHash, payments = [] } = (answer?.json ?? {}) as Partial<Status>;
    if (planHash == null) return;
    await this.#confirmAccounts(path, planHash);
    const waiting = payments.filter(({ state }) => state === "awaiting-approval");
    if (waiting.length === 0) return;
    for (const who of ["carla", "carl", "olga"]) {
      const isOthers = this.#temper.dividesRuns && runId.includes("/monthly/");
      const isEarly = this.#world.nowMs - this.#world.startedMs < LATER_MS;
      const share = isEarly ? 1 : who === "olga" ? 0.9 : 0.5;
      if (this.#lots.chance(isOthers ? share : 0.3) && this.#world.nowMs < this.calmFromMs)
        continue;
      const rejects = this.#temper.acts.has("reject") && this.#lots.chance(0.1);
      const drops = this.#temper.acts.has("drop") && this.#lots.chance(0.4);
      const drop = drops ? [this.#lots.pick(waiting).payableId] : [];
      const decision = rejects ? "reject" : "approve";
      const body = { decision, planHash, ...(rejects ? {} : { drop }) };
      const takesBack = rejects ? undefined : this.#approves(who, runId, payments, drop);
      const answered = await this.#sayVerified(who, path, body);
      if (answered !== undefined && answered.status !== 200) takesBack?.();
      if (answered?.status !== 200) continue;
      const atMs = this.#world.nowMs;
      if (rejects) this.said.note({ kind: "reject", runId, atMs });
      else for (const payableId of drop) this.said.note({ kind: "drop", runId, payableId, atMs });
    }
  }

  /** Says of every vendor whose record was changed that its account is still right. */
  async #confirmAccounts(path: string, planHash: string): Promise<void> {
    for (const who of ["carla", "olga"]) {
      const review = await this.#ask(who, "GET", `${path}/review?pageSize=1`);
      const { changedRecords = [] } = (review?.json ?? {}) as Partial<RunReview>;
      if (changedRecords.length === 0) continue;
      const confirmedRecords = changedRecords.map(({ contactId, updatedAt }) => ({
        ...{ contactId, updatedAt },
      }));
      const body = { decision: "approve", planHash, confirmedRecords };
      await this.#ask(who, "POST", `${path}/decisions`, body);
    }
  }

  /** Decides; for a vendor's changed bank account, says that the vendor was called. */
  async #sayVerified(
    who: string,
    path: string,
    body: Readonly<Record<string, unknown>> & { readonly drop?: readonly string[] },
  ) {
    const answer = await this.#ask(who, "POST", `${path}/decisions`, body);
    const { error } = (answer?.json ?? {}) as { readonly error?: string };
    if (error !== "bank_change_unverified") return answer;
    const drop = body.drop === undefined ? "" : `&drop=${body.drop.join(",")}`;
    const review = await this.#ask(who, "GET", `${path}/review?pageSize=1${drop}`);
    const { bankChanges = [] } = (review?.json ?? {}) as Partial<Pick<RunReview, "bankChanges">>;
    const verifiedBankChanges = bankChanges.map(({ contactId }) => ({
      ...{ contactId, person: "Ann Lee", phone: "+1 212 555 0100" },
    }));
    return this.#ask(who, "POST", `${path}/decisions`, { ...body, verifiedBankChanges });
  }

  /** @returns takes the approval back if it certainly doesn't count */
  #approves(
    who: string,
    runId: string,
    payments: readonly Line[],
    drop: readonly string[],
  ): () => void {
    const cents = new Map(
      payments
        .filter(({ payableId }) => !drop.includes(payableId))
        .map(({ payableId, amountCents }) => [payableId, amountCents]),
    );
    return this.said.noteApproval({ who, runId, cents, atMs: this.#world.nowMs });
  }

  /** @param about a bill that is about to be paid */
  async #act(act: Act, about?: string): Promise<void> {
    if (this.#world.nowMs >= this.calmFromMs) return;
    const { payableIds, contactIds } = this.#temper;
    const reason = "said so";
    if (act === "hold") {
      const isBill = this.#lots.chance(0.6);
      const target = isBill
        ? { payableId: about ?? this.#lots.pick(payableIds) }
        : { contactId: this.#lots.pick(contactIds) };
      const answer = await this.#ask("otto", "POST", "/v1/holds", { ...target, reason });
      const { id: holdId } = (answer?.json ?? {}) as { readonly id?: string };
      if (answer?.status !== 201 || holdId === undefined) return;
      this.said.note({ kind: "hold", ...target, holdId, atMs: this.#world.nowMs });
    }
    if (act === "stop") await this.#stop();
    if (act === "release") await this.#release();
    if (act === "reject" || act === "drop") await this.#objectTo(act, about);
    if (act === "cancel" && this.runs.size > 0) {
      const runId = this.#lots.pick([...this.runs]);
      const path = `/v1/runs/${encodeURIComponent(runId)}/cancel`;
      const answer = await this.#ask("otto", "POST", path, { reason });
      if (answer?.status !== 200) return;
      this.said.note({ kind: "cancel-run", runId, atMs: this.#world.nowMs });
    }
    if (act === "take-back") {
      const payments = this.#temper.paymentIds();
      if (payments.length === 0) return;
      const body = { payments: [this.#lots.pick(payments)], reason };
      await this.#ask("otto", "POST", "/v1/cancellations", body);
    }
    if (act === "resolve") {
      await this.#resolve(about ?? this.#lots.pick(payableIds));
    }
  }

  /** Stops something as an approver, mostly with the payments that the service already has. */
  async #stop(): Promise<void> {
    const lots = this.#stops;
    const { contactIds } = this.#temper;
    const targets = [
      { all: true },
      { contactId: lots.pick(contactIds) },
      ...(this.runs.size === 0 ? [] : [{ run: lots.pick([...this.runs]) }]),
    ];
    const target: { readonly contactId?: string; readonly run?: string } = lots.pick(targets);
    const body = { ...target, cancelScheduled: lots.chance(0.8), reason: "said so" };
    const answer = await this.#ask("carla", "POST", "/v1/stops", body);
    const { hold } = (answer?.json ?? {}) as { readonly hold?: { readonly id: string } };
    if (answer?.status !== 201 || hold === undefined) return;
    const { contactId, run: runId } = target;
    const of = {
      ...(contactId === undefined ? {} : { contactId }),
      ...(runId === undefined ? {} : { runId }),
    };
    this.said.note({ kind: "hold", ...of, holdId: hold.id, atMs: this.#world.nowMs });
  }

  async #resolve(payableId: string): Promise<void> {
    const path = `/v1/payables/${encodeURIComponent(payableId)}/resolution`;
    const { isStubborn } = this.#temper;
    const action = this.#lots.chance(isStubborn ? 0.97 : 0.7) ? "retry" : "give-up";
    const who = isStubborn ? RITA.name : "otto";
    const answer = await this.#ask(who, "POST", path, { action, reason: "said so" });
    const { error } = (answer?.json ?? {}) as { readonly error?: string };
    const isDone = error === "not_parked" || error === "given_back";
    if (answer?.status === 409 && !isDone) this.hopeless.add(payableId);
  }

  /** Rejects a run that may have been approved already, or drops one of its bills. */
  async #objectTo(act: "reject" | "drop", about: string | undefined): Promise<void> {
    if (this.runs.size === 0) return;
    const runId = this.#lots.pick([...this.runs]);
    const path = `/v1/runs/${encodeURIComponent(runId)}`;
    const answer = await this.#ask("olga", "GET", path);
    const { planHash, payments = [] } = (answer?.json ?? {}) as Partial<Status>;
    const payableId = about ?? this.#lots.pick(this.#temper.payableIds);
    const isDrop = act === "drop";
    const body = isDrop ? { decision: "approve", drop: [payableId] } : { decision: "reject" };
    const takesBack = isDrop ? this.#approves("olga", runId, payments, [payableId]) : undefined;
    const answered = await this.#sayVerified("olga", path, { ...body, planHash });
    if (answered !== undefined && answered.status !== 200) takesBack?.();
    if (answered?.status !== 200) return;
    const atMs = this.#world.nowMs;
    if (isDrop) this.said.note({ kind: "drop", runId, payableId, atMs });
    else this.said.note({ kind: "reject", runId, atMs });
  }

  async #release(): Promise<void> {
    const answer = await this.#ask("otto", "GET", "/v1/holds");
    const { items = [] } = (answer?.json ?? {}) as { readonly items?: readonly SetHold[] };
    if (items.length === 0) return;
    const { id, value, roles } = this.#lots.pick(items);
    this.said.takeBack(id, this.#world.nowMs);
    const who = roles.includes("controller") ? "carla" : "otto";
    if (who === "carla") this.said.releasedBills.add(value);
    await this.#ask(who, "DELETE", `/v1/holds/${encodeURIComponent(id)}`, { reason: "fine" });
  }
}
