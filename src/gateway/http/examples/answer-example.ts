import type { ZodType } from "zod";

const RUN = "pay-run/acme/weekly-vendors/2026-11-26";
const HASH = "5d41402abc4b2a76b9719d911017c592".repeat(2);
const CENTS = 125_000;

/** A bill that a plan leaves out. */
const LEFT_OUT = {
  publicId: "BILL-000071",
  contactName: "Osprey Robotics",
  amountCents: CENTS,
  dueDate: "2026-12-24",
  code: "not_due",
  text: "It is due after the next run.",
};
const SKIPPED = {
  payableId: "pbl_0000000000000071",
  contactId: "con_0000000000000004",
  ...LEFT_OUT,
};

/** A decision that doesn't count. */
const REFUSED = {
  runId: RUN,
  by: "Lou",
  at: "2026-11-26T14:00:00Z",
  times: 1,
  code: "launcher",
  reason: "Lou launched this run.",
};

/** Example values by field name, used if the field's schema accepts them. */
const FIELDS: Readonly<Record<string, unknown>> = {
  runId: RUN,
  workflowId: RUN,
  owner: RUN,
  period: "2026-11-26",
  payableId: "pbl_0000000000000071",
  publicId: "BILL-000071",
  number: "BILL-000071",
  contactId: "con_0000000000000004",
  contactName: "Osprey Robotics",
  paymentId: "pmt_0000000000000007",
  transactionId: "txn_0000000000000009",
  paymentIds: ["pmt_0000000000000007"],
  holdId: "hold_0000000000000003",
  sourceId: "ba_0000000000000001",
  bankAccountId: "ba_0000000000000001",
  last4: "6789",
  business: "acme",
  businessId: "biz_0000000000000001",
  playbook: "weekly-vendors",
  zone: "America/New_York",
  launchedBy: "Lou",
  author: "Ada",
  name: "Cora",
  roles: ["controller"],
  approvers: ["controller"],
  reason: "Ask the vendor.",
  planHash: HASH,
  hash: HASH,
  url: "https://payrun.example/sign-in",
  sequence: "42",
  waitingFor: "1 bill waiting for approval by controller",
  subject: "1 bill needs a person",
  remedy: "payrun worker starts one.",
  phase: "awaiting-approval",
  state: "awaiting-approval",
  status: "scheduled",
  countsFor: ["pbl_0000000000000071"],
  dropped: [],
  warnings: [],
  businesses: ["acme"],
  bankLast4: "6789",
  reasonCode: "R03",
  code: "R03",
  vendor: "Osprey Robotics",
  decideBy: "2026-11-25T05:00:00Z",
  makeBy: "2026-11-25",
  firstPayment: "2026-11-27",
  recallBy: "2026-11-25T14:00:00Z",
  cancelBy: "2026-11-25T14:00:00Z",
  releaseBy: "2026-11-25T14:00:00Z",
  earliestCutOff: "2026-11-25T14:00:00Z",
  revokedAt: null,
  releasedAt: null,
  releasedBy: null,
  endedAt: null,
  endedBy: null,
  note: null,
  comment: null,
  problem: null,
  failureReason: null,
  hurry: null,
  before: null,
  description: "Invoice 1042",
  step: "tax",
  text: "A vendor's bank account has changed.",
  signature: "I certify under penalties of perjury …",
  certification: "I certify that …",
  planId: "plan/acme/4f1d",
  eventId: "evt_0000000000000001",
  next: null,
  why: null,
  account: "ba_0000000000000001",
  source: "ba_0000000000000001",
  value: "con_0000000000000004",
  waitsFor: ["owner"],
  mayStop: ["acme"],
  holds: ["hold_0000000000000003"],
  retryRoles: [],
  names: ["BILL-000071"],
  sentences: ["It was paid once."],
  person: "Vera Vendor",
  phone: "+1 212 555 0100",
  lineHash: HASH,
  bodyHash: HASH,
  idempotencyKey: "payrun-9f2c",
  operation: "pay",
  answer: "201",
  result: "201",
  verdict: "nothing",
  rail: "bank-account",
  channel: "finance",
  proofId: "tok_0000000000000001",
  tokenId: "tok_0000000000000001",
  decisionId: "dec_0000000000000001",
  issuer: "https://login.example.com",
  changed: [],
  skippedByCode: { on_hold: 1 },
  pay: { bankAccountId: "ba_0000000000000001" },
  leftOut: { runId: RUN, ...LEFT_OUT },
  skipped: [SKIPPED],
  refused: [REFUSED],
  byReason: [{ code: "not_due", reason: "due after the next run", count: 1 }],
  error: "not_parked",
  refusal: { code: "launcher", reason: "Lou launched this run." },
  message: "There is nothing to do.",
  summary: "1 bill, $1,250.00, goes out.",
  accounts: [],
  nextPage: null,
  failure: null,
  token: "payrun_0123456789abcdef",
  type: "payment.settled",
};

/** Example texts, the plainest first; a field gets the first one that its schema accepts. */
const TEXTS: readonly string[] = [
  "…",
  "text",
  "2026-11-26",
  "2026-11-26T14:00:00Z",
  "12",
  "dGV4dA==",
];

/** Returns the values that a field's name suggests, the likeliest first. */
function byName(key: string): readonly unknown[] {
  const named = key in FIELDS ? [FIELDS[key]] : [];
  if (/cents$/i.test(key)) return [...named, CENTS];
  if (/^by$|By$/.test(key)) return [...named, "Cora", ["controller"], 1];
  if (/^(date|on|from|to)$|(Date|Day|On)$/.test(key)) return [...named, "2026-11-27"];
  if (/^(at|since|until|now)$|(At|Since|Until|Before)$/.test(key)) {
    return [...named, "2026-11-26T14:00:00Z"];
  }
  return named;
}

/** The part of a Zod schema's definition that an example needs. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, ZodType>>;
  readonly element?: ZodType;
  readonly innerType?: ZodType;
  readonly in?: ZodType;
  readonly options?: readonly ZodType[];
  readonly items?: readonly ZodType[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
  readonly keyType?: ZodType;
  readonly valueType?: ZodType;
}

/**
 * Builds an example of what a schema describes: optional fields are left out, lists have one item.
 *
 * @param key name of the field that the example is for
 */
export function exampleOf(schema: ZodType, key = ""): unknown {
  const known = byName(key).find((value) => schema.safeParse(value).success);
  return known === undefined ? exampleByType(schema, key) : known;
}

function exampleByType(schema: ZodType, key: string): unknown {
  const of = schema.def as unknown as Definition;
  const inner = of.innerType ?? of.in;
  if (inner !== undefined) return exampleOf(inner, key);
  if (of.shape !== undefined) return objectOf(of.shape);
  if (of.element !== undefined) {
    const one = [exampleOf(of.element, key)];
    return schema.safeParse(one).success ? one : [];
  }
  if (of.items !== undefined) return of.items.map((item) => exampleOf(item, key));
  if (of.valueType !== undefined && of.keyType !== undefined) {
    const name = exampleOf(of.keyType);
    return { [String(name)]: exampleOf(of.valueType, String(name)) };
  }
  const [option] = of.options ?? [];
  if (option !== undefined) return exampleOf(option, key);
  const [value] = of.values ?? Object.values(of.entries ?? {});
  if (value !== undefined) return value;
  const candidates: readonly unknown[] = [...TEXTS, 1, true, null];
  return candidates.find((each) => schema.safeParse(each).success);
}

function objectOf(shape: Readonly<Record<string, ZodType>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape)
      .filter(([, field]) => !isOptional(field))
      .map(([name, field]) => [name, besides(shape, name) ?? exampleOf(field, name)]),
  );
}

/** Returns the value of a field whose meaning depends on the fields beside it. */
function besides(shape: Readonly<Record<string, ZodType>>, name: string): string | undefined {
  if (name === "id") return idOf(shape);
  if (name !== "kind") return undefined;
  const accepts = (kind: string) => shape["kind"]?.safeParse(kind).success === true;
  return KINDS_BESIDE.find(([field, kind]) => field in shape && accepts(kind))?.[1];
}

/** Fields that say what the kind beside them is of, with one of its kinds. */
const KINDS_BESIDE = [
  ["last4", "bank-account"],
  ["deliveries", "run-completed"],
  ["twins", "duplicate"],
  ["at", "approved"],
  ["kind", "pay-run"],
] as const;

/** Returns an id in the form that fits the object with these fields. */
function idOf(shape: Readonly<Record<string, ZodType>>): string {
  if ("phase" in shape) return RUN;
  const kind = KINDS.find(([field]) => field in shape)?.[1] ?? "id";
  return `${kind}_0000000000000001`;
}

/** Fields that identify the kind of object, with the prefix of its ids. */
const KINDS = [
  ["scope", "hold"],
  ["confirmedBy", "tok"],
  ["signedInAt", "ses"],
  ["subject", "ntc"],
  ["paymentRail", "pmt"],
] as const;

/**
 * Returns true if an answer may lack the field. A field with a default is always present in one.
 */
function isOptional(field: ZodType): boolean {
  return (field.def as unknown as Definition).type === "optional";
}
