import type { Stream } from "../world/random.ts";
import type { World } from "../world/world.ts";
import type { Ask } from "./roster.ts";
import type { SaidByPeople } from "./said.ts";
import { CANCEL_LARGE } from "./playbooks.ts";
import type { Trait } from "./traits.ts";

const MINUTE_MS = 60_000;

interface TopUp {
  readonly state: string;
  readonly hash: string;
}

interface RunWithDeposits {
  readonly planHash?: string | null;
  readonly topUps?: readonly TopUp[];
}

interface HeldBill {
  readonly id: string;
  readonly scope: string;
  readonly value: string;
}

/** What people of a few companies do besides launching and approving. */
export interface Office {
  readonly traits: ReadonlySet<Trait>;
  /** True if a day of the bank is a minute, so that people look more often. */
  readonly isHasty: boolean;
  readonly payableIds: readonly string[];
  /** Ids of launched runs; runs that are launched here are added. */
  readonly runs: Set<string>;
  readonly said: SaidByPeople;
  /** The instant from which everything that waits is decided. */
  readonly calmFromMs: number;
}

/** People who handle deposits, withheld bills, accounts that bounced, and urgent bills. */
export class Offices {
  readonly #world: World;
  readonly #ask: Ask;
  readonly #office: Office;
  readonly #lots: Stream;
  /** Whether a deposit is never decided about, by hash. */
  readonly #forgotten = new Map<string, boolean>();

  constructor(world: World, ask: Ask, office: Office) {
    this.#world = world;
    this.#ask = ask;
    this.#office = office;
    this.#lots = world.stream("offices");
  }

  begin(): void {
    const { traits } = this.#office;
    const soonMs = (): number => this.#lots.stretched(20_000, 40 * MINUTE_MS);
    if (traits.has("off-cycle")) {
      for (let times = this.#lots.between(1, 3); times > 0; times -= 1) {
        this.#later(soonMs(), () => this.#payOffCycle());
      }
    }
    if (traits.has("cancels-by-playbook")) {
      for (let times = this.#lots.between(1, 2); times > 0; times -= 1) {
        this.#later(soonMs(), () => this.#cancelByPlaybook());
      }
    }
    const looks = ["short-balance", "withholds", "empty-account", "bounces"] as const;
    if (looks.some((trait) => traits.has(trait))) this.#later(45_000, () => this.#look(0));
  }

  get #isCalm(): boolean {
    return this.#world.nowMs >= this.#office.calmFromMs;
  }

  #later(afterMs: number, work: () => Promise<void>): void {
    this.#world.later(afterMs, "an office acts", () => {
      void work().catch((error: unknown) => {
        this.#world.failure ??= error instanceof Error ? error : new Error(String(error));
      });
    });
  }

  async #payOffCycle(): Promise<void> {
    const { payableIds, runs } = this.#office;
    const payables = [this.#lots.pick(payableIds)];
    const part = this.#lots.chance(0.4) ? { amountCents: this.#lots.between(1, 60) * 100 } : {};
    const body = { payables, playbook: "weekly", ...part };
    const answer = await this.#ask("lena", "POST", "/v1/off-cycle", body);
    const { id } = (answer?.json ?? {}) as { readonly id?: string };
    if (id !== undefined) runs.add(id);
  }

  async #cancelByPlaybook(): Promise<void> {
    await this.#ask("lena", "POST", "/v1/runs", { playbook: CANCEL_LARGE.name });
  }

  /** Looks for decisions to take: often at first, then a few times a day. */
  async #look(turn: number): Promise<void> {
    const { traits, isHasty } = this.#office;
    if (traits.has("short-balance")) {
      for (const runId of this.#office.runs) await this.#decideDeposits(runId);
    }
    if (traits.has("withholds")) await this.#release();
    if (traits.has("empty-account") || traits.has("bounces")) await this.#decideIncidents();
    const soonMs = isHasty ? 5_000 : 2 * MINUTE_MS;
    const laterMs = isHasty ? 2 * MINUTE_MS : 180 * MINUTE_MS;
    const pauseMs = turn < 20 && !this.#isCalm ? soonMs : laterMs;
    this.#later(pauseMs, () => this.#look(turn + 1));
  }

  async #decideDeposits(runId: string): Promise<void> {
    const path = `/v1/runs/${encodeURIComponent(runId)}`;
    const answer = await this.#ask("olga", "GET", `${path}?skipped=false`);
    const { planHash, topUps = [] } = (answer?.json ?? {}) as RunWithDeposits;
    if (planHash == null) return;
    for (const { state, hash } of topUps) {
      if (state !== "proposed" || this.#isForgotten(hash) || this.#lots.chance(0.3)) continue;
      const decision = this.#lots.chance(0.15) ? "reject" : "approve";
      const { said } = this.#office;
      // The approval may count even if its answer never arrives.
      if (decision === "approve") said.approvedDeposits.add(hash);
      const body = { decision, planHash, topUpHash: hash };
      const answered = await this.#ask("olga", "POST", `${path}/decisions`, body);
      if (decision === "reject" && answered?.status === 200) {
        said.rejectedDeposits.set(hash, this.#world.nowMs);
      }
    }
  }

  #isForgotten(hash: string): boolean {
    const known = this.#forgotten.get(hash) ?? this.#lots.chance(0.2);
    this.#forgotten.set(hash, known);
    return known;
  }

  /** Only the people that the playbook names may release; releases of other holds are refused. */
  async #release(): Promise<void> {
    const answer = await this.#ask("carla", "GET", "/v1/holds");
    const { items = [] } = (answer?.json ?? {}) as { readonly items?: readonly HeldBill[] };
    for (const { id, scope, value } of items) {
      if (scope !== "payable" || !this.#lots.chance(this.#isCalm ? 0.7 : 0.15)) continue;
      this.#office.said.releasedBills.add(value);
      await this.#ask("carla", "DELETE", `/v1/holds/${encodeURIComponent(id)}`, {});
    }
  }

  async #decideIncidents(): Promise<void> {
    const answer = await this.#ask("carla", "GET", "/v1/incidents");
    const { items = [] } = (answer?.json ?? {}) as {
      readonly items?: readonly { readonly source: string; readonly phase: string }[];
    };
    for (const { source, phase } of items) {
      if (phase !== "open" || this.#lots.chance(0.5)) continue;
      const decision = this.#lots.chance(0.8) ? "released" : "other-source";
      const path = `/v1/incidents/${encodeURIComponent(source)}/decision`;
      await this.#ask("carla", "POST", path, { decision, reason: "looked at" });
    }
  }
}
