import type { Name } from "../../domain/names.ts";
import { integerOrNull, table, text, textOrNull, word } from "./table.ts";

/** The names that people use for things. */
export const nameTables = {
  /** Numbers and names of bills, vendors and accounts, as last read. */
  names: table(["business_id", "kind", "id"], {
    business_id: text,
    kind: word<Name["kind"]>(),
    id: text,
    /** A bill's number, or an account's last four. */
    number: textOrNull,
    /** Name of the vendor (for a bill too) or of the account. */
    name: textOrNull,
    /** Vendor of a bill. */
    contact_id: textOrNull,
    /** Total of a bill. */
    amount_cents: integerOrNull,
    /** Number and name, folded to be compared with what people type. */
    number_folded: text,
    name_folded: text,
  }),
};
