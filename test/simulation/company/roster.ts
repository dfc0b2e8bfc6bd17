/** A person's token and what it may do. */
export interface Person {
  readonly name: string;
  readonly roles: readonly string[];
}

export const PEOPLE: readonly Person[] = [
  { name: "lena", roles: ["launcher"] },
  { name: "otto", roles: ["operator"] },
  { name: "carla", roles: ["controller"] },
  { name: "carl", roles: ["controller"] },
  { name: "olga", roles: ["owner"] },
];

/** Decides about any return, even if a playbook names controllers for it. */
export const RITA: Person = { name: "rita", roles: ["operator", "controller"] };

/** Sends a gateway a request in a person's name. @returns undefined if no gateway answered */
export type Ask = (
  person: string,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly json: unknown } | undefined>;

/** How often people do what. */
export interface Temper {
  /** Kinds of acts that people do in this seed. */
  readonly acts: ReadonlySet<Act>;
  readonly launches: readonly string[];
  /** True if there is no pause between two launches. */
  readonly atOnce: boolean;
  /** True if a day of the bank is a minute, so that people look more often. */
  readonly isHasty: boolean;
  /** True if a person wants every returned payment paid again. */
  readonly isStubborn: boolean;
  /** True if the owner mostly leaves the second run to the others, who decide later. */
  readonly dividesRuns: boolean;
  readonly payableIds: readonly string[];
  readonly contactIds: readonly string[];
  /** Payments that the service shows now. */
  readonly paymentIds: () => readonly string[];
}

export const ACTS = [
  "drop",
  "hold",
  "release",
  "take-back",
  "cancel",
  "reject",
  "resolve",
] as const;
/** An act; besides the listed ones, a person may stop everything, a vendor or a run. */
export type Act = (typeof ACTS)[number] | "stop";
