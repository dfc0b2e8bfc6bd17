import type { Name } from "../../domain/names.ts";
import { integerOrNull, table, text, textOrNull, word } from "./table.ts";

/** What people call things. */
export const nameTables = {
  /** Numbers and names of bills, vendors and accounts, as they were read last. */
  names: table(["business_id", "kind", "id"], {
    business_id: text,
    kind: word<Name["kind"]>(),
    id: text,
    /** A bill's number, or an account's last four. */
    number: textOrNull,
    /** The vendor's, of a bill too, or the account's. */
    name: textOrNull,
    /** Vendor of a bill. */
    contact_id: textOrNull,
    /** Total of a bill. */
    amount_cents: integerOrNull,
    /** Number and name as what people type is compared with them. */
    number_folded: text,
    name_folded: text,
  }),
};
