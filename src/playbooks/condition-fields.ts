/** The place of a condition in a playbook: flags are known only after bills are selected. */
export type ConditionUse = "select" | "approve";

/** CEL types of a bill's fields; `flags` is added where they are known. */
export const FIELDS = {
  id: "string",
  publicId: "string",
  description: "string",
  customNumber: "string",
  amountCents: "int",
  totalAmountCents: "int",
  amountPaidCents: "int",
  dueDate: "string",
  issueDate: "string",
  status: "string",
  paymentStatus: "string",
} as const;

export const VENDOR_FIELDS = {
  id: "string",
  name: "string",
  type: "string",
  netTerms: "int",
  bankLast4: "string",
} as const;
