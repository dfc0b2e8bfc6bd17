import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { allRows, execute, insertRow } from "../db.ts";

export const faultsDdl = `
CREATE TABLE IF NOT EXISTS faults (
  position INTEGER PRIMARY KEY,
  rule TEXT NOT NULL,
  times_left INTEGER,
  draws INTEGER NOT NULL,
  hits INTEGER NOT NULL
);
`;

/**
 * A fault on demand.
 *
 * `before` acts before the key is claimed. `during` acts after it was claimed and before the
 * action: `drop` then leaves a request that died without an answer; `partial` makes only the first
 * of several payments and answers 500. `after` acts once the effect is committed.
 *
 * `late` closes the connection at once and carries the request out `delayMs` later: before its key
 * is claimed, or with its key claimed. If the service stops before then, the request is lost.
 */
export const faultRule = z
  .strictObject({
    method: z.string().min(1).default("*"),
    path: z.string().min(1),
    when: z.enum(["before", "during", "after"]),
    effect: z.enum(["status", "drop", "delay", "malformed", "partial", "late"]),
    status: z.int().min(200).max(599).optional(),
    retryAfter: z.number().min(0).max(1_000_000).optional(),
    delayMs: z.number().min(0).max(3_600_000).optional(),
    times: z.int().min(1).optional(),
    probability: z.number().min(0).max(1).optional(),
    seed: z.union([z.number(), z.string()]).optional(),
  })
  .refine((rule) => rule.effect !== "partial" || rule.when === "during", {
    error: "partial acts during a request",
    path: ["when"],
  })
  .refine((rule) => rule.effect !== "late" || rule.when !== "after", {
    error: "what has taken effect is not carried out late",
    path: ["when"],
  });

type FaultRule = z.infer<typeof faultRule>;
export type FaultMoment = FaultRule["when"];

/** A rule that hit a request; `byDate` chooses the date form of `Retry-After`. */
export interface HitFault {
  effect: FaultRule["effect"];
  status: number;
  retryAfterSeconds: number | undefined;
  byDate: boolean;
  delayMs: number;
}

interface LoadedRule {
  position: number;
  rule: FaultRule;
  path: RegExp;
  timesLeft: number | null;
  draws: number;
  hits: number;
}

/** The fault rules, kept with their counters in the database so that a restart changes nothing. */
export class Faults {
  readonly #db: DatabaseSync;
  #rules: LoadedRule[] = [];

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.load();
  }

  /** Replaces all rules. */
  replace(rules: readonly FaultRule[]): void {
    execute(this.#db, "DELETE FROM faults");
    for (const [position, rule] of rules.entries()) {
      insertRow(this.#db, "faults", {
        position,
        rule: JSON.stringify(rule),
        times_left: rule.times ?? null,
        draws: 0,
        hits: 0,
      });
    }
    this.load();
  }

  /** Reads the rules from the database. */
  load(): void {
    const rows = allRows<{
      position: number;
      rule: string;
      times_left: number | null;
      draws: number;
      hits: number;
    }>(this.#db, "SELECT * FROM faults ORDER BY position");
    this.#rules = rows.map((row) => {
      const rule = faultRule.parse(JSON.parse(row.rule));
      return {
        position: row.position,
        rule,
        path: pathPattern(rule.path),
        timesLeft: row.times_left,
        draws: row.draws,
        hits: row.hits,
      };
    });
  }

  /** True if any rule may still hit a request at this moment. */
  mayStrike(moment: FaultMoment): boolean {
    return this.#rules.some(({ rule, timesLeft }) => rule.when === moment && timesLeft !== 0);
  }

  /**
   * Returns the first rule that hits this request at this moment, and uses up one of its `times`.
   */
  take(moment: FaultMoment, method: string, path: string): HitFault | undefined {
    for (const loaded of this.#rules) {
      const { rule } = loaded;
      if (rule.when !== moment || loaded.timesLeft === 0) continue;
      if (rule.method !== "*" && rule.method.toUpperCase() !== method) continue;
      if (!loaded.path.test(path)) continue;
      const hit = this.#draws(loaded);
      if (hit) {
        loaded.hits += 1;
        if (loaded.timesLeft !== null) loaded.timesLeft -= 1;
      }
      this.#save(loaded);
      if (hit) return faultOf(loaded);
    }
    return undefined;
  }

  #draws(loaded: LoadedRule): boolean {
    const { probability, seed } = loaded.rule;
    if (probability === undefined) return true;
    loaded.draws += 1;
    const chance = seed === undefined ? Math.random() : seededChance(seed, loaded.draws);
    return chance < probability;
  }

  #save(loaded: LoadedRule): void {
    execute(
      this.#db,
      "UPDATE faults SET times_left = ?, draws = ?, hits = ? WHERE position = ?",
      loaded.timesLeft,
      loaded.draws,
      loaded.hits,
      loaded.position,
    );
  }
}

function faultOf({ rule, hits }: LoadedRule): HitFault {
  return {
    effect: rule.effect,
    status: rule.status ?? 500,
    retryAfterSeconds: rule.retryAfter,
    byDate: hits % 2 === 0,
    delayMs: rule.delayMs ?? 0,
  };
}

function pathPattern(path: string): RegExp {
  const segments = path
    .split("/")
    .map((segment) =>
      segment === "*" ? "[^/]+" : segment.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
    );
  return new RegExp(`^${segments.join("/")}$`);
}

/** Returns a number from 0 to 1 that depends only on the seed and the number of the draw. */
function seededChance(seed: number | string, draw: number): number {
  const digest = createHash("sha256").update(`${seed}:${draw}`).digest();
  return digest.readUInt32BE(0) / 2 ** 32;
}
