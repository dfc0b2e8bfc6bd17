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

/** Decides about whatever has come back, also where a playbook names controllers for it. */
export const RITA: Person = { name: "rita", roles: ["operator", "controller"] };

/** Asks a gateway something in a person's name. @returns undefined where none answered */
export type Ask = (
  person: string,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly json: unknown } | undefined>;

/** How often people do what. */
export interface Temper {
  /** Kinds of acts that people of this seed know. */
  readonly acts: ReadonlySet<Act>;
  readonly launches: readonly string[];
  /** True where nobody waits between two launches. */
  readonly atOnce: boolean;
  /** Where a day of the bank's is a minute, they look more often. */
  readonly isHasty: boolean;
  /** True where somebody wants everything paid again that has come back. */
  readonly isStubborn: boolean;
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
/** Besides these somebody may stop everything, a vendor or a run. */
export type Act = (typeof ACTS)[number] | "stop";
