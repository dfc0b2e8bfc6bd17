import { type ReadOptions, type Requester, segment, type WriteOptions } from "../requester.ts";
import type { Partly } from "../schemas/common.ts";
import {
  partlyPayableSchema,
  type Payable,
  type PayableListItem,
  payableListItemSchema,
  payablePageSchema,
  payableSchema,
  type PayableStatus,
} from "../schemas/payable.ts";
import { PagedReads } from "./paged-reads.ts";

type PayableFilters = { search?: string | undefined; status?: PayableStatus | undefined };

/** A bill to create. The specification doesn't show the shape: this is our reading. */
export interface NewPayable {
  contactId?: string;
  /** `YYYY-MM-DD`. */
  dueDate?: string;
  /** `YYYY-MM-DD`. */
  issueDate?: string;
  customNumber?: string;
  description?: string;
  /** Either these, or `totalAmountCents`. */
  items?: { name: string; quantity: number; unitAmountCents: number }[];
  totalAmountCents?: number;
}

/** Payables: the bills that the business pays (API specification, section 4). */
export class Payables extends PagedReads<PayableListItem, PayableFilters> {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    super(requester, "/v1/payables", payablePageSchema);
    this.#requester = requester;
  }

  get(payableId: string, options?: ReadOptions): Promise<Payable> {
    return this.#requester.readOne("/v1/payables", payableId, payableSchema, options);
  }

  /** Reads a bill whose fields need not all be as documented: `unreadable` names those. */
  getPartly(payableId: string, options?: ReadOptions): Promise<Payable & Partly> {
    return this.#requester.readOne("/v1/payables", payableId, partlyPayableSchema, options);
  }

  /** Creates a bill. Only the id of the response, whose shape is not documented, is certain. */
  create(payable: NewPayable, options?: WriteOptions): Promise<PayableListItem> {
    const write = { ...options, method: "POST" as const, path: "/v1/payables", body: payable };
    return this.#requester.write(write, payableListItemSchema);
  }

  /** Sends a draft into the business's approval flow. */
  submit(payableId: string, options?: WriteOptions): Promise<Payable> {
    const path = `/v1/payables/${segment(payableId)}/submit`;
    return this.#requester.write({ ...options, method: "POST", path }, payableSchema);
  }
}
