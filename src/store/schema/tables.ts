import type { Selectable } from "kysely";
import { cancellationTables } from "./cancellations.ts";
import { decisionTables } from "./decisions.ts";
import { eventTables } from "./events.ts";
import { followedPaymentTables } from "./followed-payments.ts";
import { incidentTables } from "./incidents.ts";
import { ledgerTables } from "./ledger.ts";
import { nameTables } from "./names.ts";
import { noticeTables } from "./notices.ts";
import { onboardingTables } from "./onboardings.ts";
import { paymentTables } from "./payments.ts";
import { recordTables } from "./records.ts";
import { requestTables } from "./requests.ts";
import { runTables } from "./runs.ts";
import { sessionTables } from "./sessions.ts";
import { topUpTables } from "./deposits.ts";
import type { RowsOf } from "./table.ts";

/** All tables, in the order in which they are created and copied. */
export const TABLES = {
  ...runTables,
  ...ledgerTables,
  ...paymentTables,
  ...followedPaymentTables,
  ...decisionTables,
  ...sessionTables,
  ...eventTables,
  ...incidentTables,
  ...cancellationTables,
  ...topUpTables,
  ...onboardingTables,
  ...nameTables,
  ...noticeTables,
  ...recordTables,
  ...requestTables,
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
