import type { SaidByPeople } from "../company/said.ts";
import type { Accepted, SeenRequest } from "../service/bank.ts";
import { checkBooksAgree, checkNothingStuck } from "./end-rules.ts";
import { checkKeys } from "./key-rules.ts";
import { checkAccepted, checkLedger, checkRows } from "./ledger-rules.ts";
import { MoneyRules } from "./money-rules.ts";
import { checkSaid } from "./people-rules.ts";
import {
  checkAnswers,
  checkClaims,
  checkLooks,
  checkProtocol,
  type Standard,
} from "./protocol-rules.ts";
import type { World } from "../world/world.ts";
import { Violation } from "./violation.ts";

interface Game extends Standard {
  readonly businessId: string;
  readonly said: SaidByPeople;
  /** True where no other run may pay the same bills. */
  readonly isOnlyRun: boolean;
  /** What all runs together may pay one vendor in a week. */
  readonly vendorPerWeekCents: number | undefined;
}

/** The watch for what banks take back looks so often, where no webhook tells it. */
const UNSEEN_MS = 3_600_000;

/** Asks all rules, each at its moment: as bytes leave, as the bank accepts, and in the end. */
export class Referee {
  readonly #world: World;
  readonly #game: Game;
  readonly #money: MoneyRules;
  readonly #acknowledged = new Set<string>();
  /** When the store was put back from a backup; 0 where it never was. */
  #restoredMs = 0;

  constructor(world: World, game: Game) {
    const { bank, book, facts, vendorPerWeekCents } = game;
    this.#world = world;
    this.#game = game;
    this.#money = new MoneyRules(bank, book, facts, vendorPerWeekCents);
    bank.atSend = (request) => this.#judge(() => this.#atSend(request));
    bank.atAcceptance = (accepted) => this.#judge(() => this.#atAcceptance(accepted));
  }

  /** An event was acknowledged: it is committed by now, and stays. */
  atAcknowledged(eventId: string): void {
    this.#acknowledged.add(eventId);
    this.#judge(() => this.#checkEvent(eventId));
  }

  /** The store is another one from now on; where it is a backup it may have forgotten things. */
  storeReplaced(isBackup: boolean): void {
    if (isBackup) {
      this.#restoredMs = this.#world.nowMs;
      this.#acknowledged.clear();
    }
    for (const eventId of this.#acknowledged) this.#judge(() => this.#checkEvent(eventId));
  }

  /** Now and then, whatever happens. */
  meanwhile(): void {
    this.#judge(() => checkClaims(this.#game, this.#world.nowMs));
  }

  /** Hours after everything has healed. */
  whenHealed(): void {
    this.#judge(() => checkNothingStuck(this.#game.facts));
  }

  /** @param isOver true where everything has had its time */
  atTheEnd(isOver: boolean): void {
    const { facts, book } = this.#game;
    checkRows(facts, book.payables.keys());
    for (const payableId of book.payables.keys()) {
      checkLooks(this.#game, payableId);
      checkAnswers(this.#game, payableId, this.#restoredMs);
    }
    if (!isOver) return;
    const unseenSinceMs = this.#game.businessMsAt(this.#world.nowMs - UNSEEN_MS);
    checkBooksAgree(facts, book, { hasForgotten: this.#hasForgotten, unseenSinceMs });
  }

  get #hasForgotten(): boolean {
    return this.#restoredMs > 0;
  }

  #atSend(request: SeenRequest): void {
    const { bank, book, facts, said, businessId, isOnlyRun } = this.#game;
    checkKeys(bank, request);
    const sent = checkLedger(facts, businessId, request);
    if (sent === undefined) return;
    checkProtocol(this.#game, sent);
    checkAnswers(this.#game, sent.subject, this.#restoredMs);
    // A run that was rejected may be launched again, and approved.
    const isAlone = isOnlyRun && facts.runs().length === 1;
    checkSaid(said, book, request, { openedMs: sent.openedMs, isOnlyRun: isAlone });
  }

  #atAcceptance(accepted: Accepted): void {
    const { bank, facts } = this.#game;
    const request = bank.requests.find(({ number }) => number === accepted.request);
    this.#money.check(accepted, this.#hasForgotten);
    if (accepted.kind !== "payment" || request === undefined) return;
    if (request.leftMs > this.#restoredMs) checkAccepted(facts, request, accepted.subject);
  }

  #checkEvent(eventId: string): void {
    if (this.#game.facts.hasEvent(eventId)) return;
    const what = `${eventId} was acknowledged, and is not there`;
    throw new Violation("acknowledged-is-committed", what);
  }

  /** What breaks a rule ends the seed at the end of its step, wherever it was noticed. */
  #judge(rule: () => void): void {
    try {
      rule();
    } catch (error) {
      this.#world.failure ??= error instanceof Error ? error : new Error(String(error));
    }
  }
}
