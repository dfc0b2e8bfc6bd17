import type { Selectable } from "kysely";
import { cancellationTables } from "./schema/cancellations.ts";
import { decisionTables } from "./schema/decisions.ts";
import { eventTables } from "./schema/events.ts";
import { followedPaymentTables } from "./schema/followed-payments.ts";
import { incidentTables } from "./schema/incidents.ts";
import { ledgerTables } from "./schema/ledger.ts";
import { noticeTables } from "./schema/notices.ts";
import { onboardingTables } from "./schema/onboardings.ts";
import { paymentTables } from "./schema/payments.ts";
import { recordTables } from "./schema/records.ts";
import { runTables } from "./schema/runs.ts";
import { topUpTables } from "./schema/top-ups.ts";
import type { RowsOf } from "./schema/table.ts";

/** Every table, in the order in which they are made, and copied. */
export const TABLES = {
  ...runTables,
  ...ledgerTables,
  ...paymentTables,
  ...followedPaymentTables,
  ...decisionTables,
  ...eventTables,
  ...incidentTables,
  ...cancellationTables,
  ...topUpTables,
  ...onboardingTables,
  ...noticeTables,
  ...recordTables,
};

export const TABLE_NAMES = Object.keys(TABLES) as readonly (keyof Tables)[];

/**
 * The store's tables as queries see them.
 *
 * Instants are integers in milliseconds since 1970 (`…AtMs`), dates are `YYYY-MM-DD` texts,
 * JSON is text, booleans are 0 or 1: the subset that SQLite and PostgreSQL share.
 */
export interface Tables extends RowsOf<typeof TABLES> {}

/** A row of a table, as it is read. */
export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
