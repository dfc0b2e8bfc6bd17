/** Scopes of a hold. */
export const HOLD_SCOPES = ["payable", "contact", "source", "run", "playbook", "all"] as const;

export type HoldScopeName = (typeof HOLD_SCOPES)[number];

/** Scopes of a stop: a hold, and a cancel of what the service has of it already. */
export type StopScope = Extract<HoldScopeName, "contact" | "source" | "run" | "all">;

export interface StopTarget {
  readonly scope: StopScope;
  /** Empty for everything. */
  readonly value: string;
}

export interface HoldTarget {
  readonly scope: HoldScopeName;
  /** Empty for everything. */
  readonly value: string;
}

/** The fields of a hold that decide whether it stops a line. */
export interface HoldScope {
  readonly scope: string;
  readonly value: string;
  readonly reason: string;
}

export interface HoldFacts {
  readonly payableId: string;
  readonly contactId: string;
  readonly sourceId: string;
  readonly runId: string;
  readonly playbook: string;
}

/** Why a line that a hold stops isn't paid. */
export function onHoldText(hold: { readonly author: string; readonly reason: string }): string {
  return `On hold since ${hold.author} said: ${hold.reason}`;
}

/** The first hold that stops a line, or undefined. */
export function holdOn<H extends HoldScope>(holds: readonly H[], facts: HoldFacts): H | undefined {
  return holds.find((hold) => {
    switch (hold.scope) {
      case "all":
        return true;
      case "payable":
        return hold.value === facts.payableId;
      case "contact":
        return hold.value === facts.contactId;
      case "source":
        return hold.value === facts.sourceId;
      case "run":
        return hold.value === facts.runId;
      case "playbook":
        return hold.value === facts.playbook;
      default:
        // A newer program wrote this scope: stopping is the safe reading.
        return true;
    }
  });
}
