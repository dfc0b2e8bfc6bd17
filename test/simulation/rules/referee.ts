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
import { Violation } from "./violation.ts";

interface Game extends Standard {
  readonly businessId: string;
  readonly said: SaidByPeople;
  /** True where no other run may pay the same bills. */
  readonly isOnlyRun: boolean;
  /** What all runs together may pay one vendor in a week. */
  readonly vendorPerWeekCents: number | undefined;
}

/** Asks all rules, each at its moment: as bytes leave, as the bank accepts, and in the end. */
export class Referee {
  readonly #game: Game;
  readonly #money: MoneyRules;

  constructor(game: Game) {
    const { bank, book, facts, vendorPerWeekCents } = game;
    this.#game = game;
    this.#money = new MoneyRules(bank, book, facts, vendorPerWeekCents);
  }

  atSend(request: SeenRequest): void {
    const { bank, book, facts, said, businessId, isOnlyRun } = this.#game;
    checkKeys(bank, request);
    const sent = checkLedger(facts, businessId, request);
    if (sent === undefined) return;
    checkProtocol(this.#game, sent);
    checkAnswers(this.#game, sent.subject);
    checkSaid(said, book, request, { openedMs: sent.openedMs, isOnlyRun });
  }

  atAcceptance(accepted: Accepted): void {
    const { bank, facts } = this.#game;
    this.#money.check(accepted);
    const request = bank.requests.find(({ number }) => number === accepted.request);
    if (accepted.kind !== "payment" || request === undefined) return;
    checkAccepted(facts, request, accepted.subject);
  }

  atAcknowledged(eventId: string): void {
    if (this.#game.facts.hasEvent(eventId)) return;
    const what = `${eventId} was acknowledged, and is not there`;
    throw new Violation("acknowledged-is-committed", what);
  }

  /** Now and then, whatever happens. */
  meanwhile(nowMs: number): void {
    checkClaims(this.#game, nowMs);
  }

  /** Hours after everything has healed. */
  whenHealed(): void {
    checkNothingStuck(this.#game.facts);
  }

  /** @param isOver true where everything has had its time */
  atTheEnd(isOver: boolean): void {
    const { facts, book } = this.#game;
    checkRows(facts, book.payables.keys());
    for (const payableId of book.payables.keys()) {
      checkLooks(this.#game, payableId);
      checkAnswers(this.#game, payableId);
    }
    if (isOver) checkBooksAgree(facts, book);
  }
}
