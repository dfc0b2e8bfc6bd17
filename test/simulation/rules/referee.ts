import type { PayingHabits } from "../company/playbooks.ts";
import type { SaidByPeople } from "../company/said.ts";
import type { Accepted, SeenRequest } from "../service/bank.ts";
import type { BankClock } from "../service/bank-clock.ts";
import { checkWord } from "./approval-rules.ts";
import { checkBooksAgree, checkEverybodyKnows, checkNothingStuck } from "./end-rules.ts";
import { checkKeys } from "./key-rules.ts";
import { CancelRules } from "./cancel-rules.ts";
import { checkAccepted, checkLedger, checkRows } from "./ledger-rules.ts";
import { GrowthRules } from "./growth-rules.ts";
import { PromptRules } from "./prompt-rules.ts";
import { checkAnswersAreCompared, checkGateUnneeded, checkRequest } from "./request-rules.ts";
import { LossRules } from "./loss-rules.ts";
import { MoneyRules } from "./money-rules.ts";
import { SumRules } from "./sum-rules.ts";
import { SilenceRules } from "./silence-rules.ts";
import { checkSaid, checkTrailAgrees } from "./people-rules.ts";
import {
  checkAnswers,
  checkClaims,
  checkLookups,
  checkProtocol,
  type Standard,
} from "./protocol-rules.ts";
import type { StoreRows } from "./store-rows.ts";
import { checkWorkIsKnown } from "./work-rules.ts";
import type { Endpoint } from "../service/endpoint.ts";
import { checkEndpoint } from "./endpoint-rules.ts";
import type { World } from "../world/world.ts";
import { Violation } from "./violation.ts";

interface Game extends Standard {
  readonly businessId: string;
  readonly rows: StoreRows;
  readonly said: SaidByPeople;
  readonly endpoint: Endpoint;
  readonly health: ConstructorParameters<typeof PromptRules>[1];
  readonly clock: BankClock;
  /** The instant until which anything may be broken. */
  readonly healsAtMs: number;
  /** True if the service lies: then nothing holds but what is sent. */
  readonly isLiedTo: boolean;
  /** The one account of the company. */
  readonly bankAccountId: string;
  /** How much business clocks may differ, in milliseconds. */
  readonly skewMs: number;
  /** True if no other run may pay the same bills. */
  readonly isOnlyRun: boolean;
  /** How long it may take to notice a return that no webhook reports. */
  readonly unseenMs: number;
  readonly paying: PayingHabits;
}

/** All rows are compared once in this many turns: there are many, and they hardly change. */
const ROWS_EVERY = 5;

/** Checks each rule at its moment: as bytes leave, as the bank accepts, and at the end. */
export class Referee {
  readonly #world: World;
  readonly #game: Game;
  readonly #money: MoneyRules;
  readonly #silence: SilenceRules;
  readonly #cancels: CancelRules;
  readonly #sums: SumRules;
  readonly #growth: GrowthRules;
  readonly #loss: LossRules;
  readonly #prompt: PromptRules;
  #turns = 0;
  /** Hashes that were the end of the audit trail since the store was last replaced. */
  readonly #trailEnds = new Set<string>();
  readonly #acknowledged = new Set<string>();
  /** When the store was restored from a backup; 0 if never. */
  #restoredMs = 0;

  constructor(world: World, game: Game) {
    const { bank, book, facts, paying } = game;
    this.#world = world;
    this.#game = game;
    this.#money = new MoneyRules(bank, book, facts, paying.limits);
    this.#cancels = new CancelRules(facts);
    this.#sums = new SumRules(game);
    this.#growth = new GrowthRules(game.rows);
    this.#loss = new LossRules(facts, game.sandbox);
    this.#prompt = new PromptRules(facts, game.health);
    const judge = (rule: () => void): void => this.#judge(rule);
    this.#silence = new SilenceRules(world, { ...game, judge });
    bank.atSend = (request) => this.#judge(() => this.#atSend(request));
    bank.atAcceptance = (accepted) => this.#judge(() => this.#atAcceptance(accepted));
  }

  /** An event was acknowledged: it is committed, and must stay. */
  atAcknowledged(eventId: string): void {
    this.#acknowledged.add(eventId);
    this.#judge(() => this.#checkEvent(eventId));
  }

  /** The store was replaced; a backup may have lost things. */
  storeReplaced(isBackup: boolean): void {
    this.#growth.storeReplaced(isBackup);
    this.#trailEnds.clear();
    if (isBackup) {
      this.#restoredMs = this.#world.nowMs;
      this.#loss.restored(this.#world.nowMs);
      this.#acknowledged.clear();
    }
    for (const eventId of this.#acknowledged) this.#judge(() => this.#checkEvent(eventId));
  }

  /** The gate has let something through, and nothing else has happened since. */
  sendsWritten(): void {
    this.#judge(() => this.#cancels.check(this.#game.businessMsAt(this.#world.nowMs)));
    const { isLiedTo, isWithinEnvelope } = this.#game;
    // What a store has lost, or the service denies, can't be added up.
    if (isLiedTo || !isWithinEnvelope || this.#hasForgotten) return;
    this.#judge(() => this.#sums.check());
  }

  /** Called now and then, at any time. */
  meanwhile(): void {
    this.#judge(() => checkGateUnneeded(this.#game.facts));
    if (this.#game.isLiedTo) return;
    this.#judge(() => checkClaims(this.#game, this.#world.nowMs));
    this.#loss.meanwhile(this.#world.nowMs);
    this.#checkPrompt();
    this.#turns += 1;
    if (this.#turns % ROWS_EVERY !== 0) return;
    this.#judge(() => this.#growth.check());
    this.#judge(() => checkTrailAgrees(this.#game.facts));
    const trailEnd = this.#game.facts.trailEnd(this.#game.businessId);
    if (trailEnd !== undefined) this.#trailEnds.add(trailEnd);
  }

  /** Called hours after everything has healed. */
  whenHealed(): void {
    if (this.#game.isLiedTo) return;
    this.#judge(() => checkNothingStuck(this.#game.facts, this.#world.nowMs));
  }

  /** @param isOver true if everything has had its time */
  atTheEnd(isOver: boolean): void {
    const { facts, book, unseenMs } = this.#game;
    this.#growth.check();
    checkGateUnneeded(facts);
    checkAnswersAreCompared(facts);
    if (this.#game.isLiedTo) return;
    checkRows(facts, book.payables.keys());
    for (const payableId of book.payables.keys()) {
      checkLookups(this.#game, payableId);
      checkAnswers(this.#game, payableId, this.#restoredMs);
    }
    this.#silence.atTheEnd();
    if (!isOver) return;
    const unseenSinceMs = this.#game.businessMsAt(this.#world.nowMs - unseenMs);
    const hasForgotten = this.#hasForgotten || !this.#game.isWithinEnvelope;
    const businessMs = this.#game.businessMsAt(this.#world.nowMs);
    checkEverybodyKnows(facts, businessMs);
    checkWorkIsKnown(facts, businessMs);
    checkBooksAgree(facts, book, { hasForgotten, unseenSinceMs });
    checkEndpoint(facts, this.#game.endpoint, this.#world.nowMs - unseenMs);
  }

  /** @param problemsOf the engine's own verifier, which gets the trail ends that were seen */
  async checkTrail(
    problemsOf: (seen: ReadonlyMap<string, string>) => Promise<readonly string[]>,
  ): Promise<void> {
    const seen = new Map([...this.#trailEnds].map((hash) => [hash, "The referee"]));
    const [problem] = await problemsOf(seen);
    if (problem !== undefined) throw new Violation("unbroken-trail", problem);
  }

  get #hasForgotten(): boolean {
    return this.#restoredMs > 0;
  }

  #atSend(request: SeenRequest): void {
    const { bank, book, facts, said, businessId, isOnlyRun, isLiedTo } = this.#game;
    if (this.#game.isWithinEnvelope && !isLiedTo) checkKeys(bank, request);
    const sent = checkLedger(facts, businessId, request);
    if (sent === undefined) return;
    const businessMs = this.#game.businessMsAt(request.leftMs);
    checkRequest({ ...this.#game, businessMs }, request, sent);
    checkWord(this.#game, sent);
    if (isLiedTo) return;
    this.#loss.check(sent);
    checkProtocol(this.#game, sent, this.#restoredMs);
    checkAnswers(this.#game, sent.subject, this.#restoredMs);
    // A rejected run may be launched again and then approved.
    const isAlone = isOnlyRun && facts.runs().length === 1;
    checkSaid(said, book, request, { openedMs: sent.openedMs, isOnlyRun: isAlone });
  }

  #atAcceptance(accepted: Accepted): void {
    const { bank, facts, isWithinEnvelope, isLiedTo } = this.#game;
    if (isLiedTo) return;
    if (!this.#hasForgotten) this.#silence.scheduled(accepted);
    if (!isWithinEnvelope) {
      this.#silence.accepted(accepted);
      return;
    }
    const request = bank.requests.find(({ number }) => number === accepted.request);
    this.#money.check(accepted, this.#hasForgotten);
    if (accepted.kind !== "payment" || request === undefined) return;
    if (request.leftMs > this.#restoredMs) checkAccepted(facts, request, accepted.subject);
  }

  /**
   * If a day of the bank is a minute, a minute is a day, and decisions are not checked for
   * promptness.
   */
  #checkPrompt(): void {
    const { sandbox, businessMsAt } = this.#game;
    const { nowMs } = this.#world;
    if (!sandbox) this.#judge(() => this.#prompt.check(nowMs, businessMsAt(nowMs)));
  }

  #checkEvent(eventId: string): void {
    if (this.#game.facts.hasEvent(eventId)) return;
    const what = `${eventId} was acknowledged, and is not there`;
    throw new Violation("acknowledged-is-committed", what);
  }

  /** A violation ends the seed at the end of its step, wherever it was noticed. */
  #judge(rule: () => void): void {
    try {
      rule();
    } catch (error) {
      this.#world.failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }
}
