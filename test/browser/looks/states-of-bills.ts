import { billIn, HOOLI_STATES } from "./seeds/hooli.ts";
import { answer, at, CORA, GRETA, HANNA, IVY, OTTO, type State, URSULA, VERA } from "./state.ts";
import type { World } from "./world.ts";

const bill = (id: string, act = "") => `/bills/${id}${act}`;
const parked = billIn("parked");
const resolving = (...bills: readonly string[]) =>
  `/needs-action/resolve?${bills.map((id) => `bill=umbrella%2F${id}`).join("&")}`;
const service =
  (path: (of: World["globex"]) => string) =>
  ({ globex }: World) =>
    path(globex);

const acts = ["hold", "retry", "paid-elsewhere", "give-up"] as const;

/** A bill in each state, its vendor, and the actions on it. */
export const BILLS: readonly State[] = [
  ...HOOLI_STATES.map((state) => at(`bill-${state}`, HANNA, bill(billIn(state)))),
  at("bill-long-names", CORA, bill("pbl_old_0001")),
  at("bill-new-account", CORA, bill("pbl_0104")),
  at(
    "bill-of-the-service",
    GRETA,
    service(({ unplanned }) => bill(unplanned.id)),
  ),
  at(
    "bill-of-the-service-hold",
    GRETA,
    service(({ unplanned }) => bill(unplanned.id, "/hold")),
  ),
  answer("bill-of-the-service-held", GRETA, {
    path: service(({ unplanned }) => bill(unplanned.id, "/hold")),
    filled: { text: { Why: "A call is open" } },
    button: "Hold it",
  }),
  at("bill-nowhere", CORA, bill("pbl_nowhere")),
  ...acts.map((act) => at(`bill-act-${act}`, HANNA, bill(parked, `/${act}`))),
  at("bill-act-cancel", HANNA, bill(billIn("scheduled"), "/cancel")),
  answer("bill-act-mistake", HANNA, { path: bill(parked, "/give-up"), button: "Give it up" }),
  answer("bill-act-not-yours", VERA, {
    path: bill("pbl_0105", "/hold"),
    filled: { text: { Why: "odd" } },
    button: "Hold it",
  }),
  answer("bill-held-now", HANNA, {
    path: bill(billIn("planned"), "/hold"),
    filled: { text: { Why: "A call is open" } },
    button: "Hold it",
  }),
  answer("bill-paid-elsewhere-now", HANNA, {
    path: bill(parked, "/paid-elsewhere"),
    filled: { text: { Why: "paid by card" } },
    button: "It was paid elsewhere",
  }),
  answer("bill-not-parked-any-more", HANNA, {
    path: bill(parked, "/retry"),
    filled: { text: { Why: "the vendor has called" } },
    button: "Try again",
  }),
  answer("bill-cancel-asked", HANNA, {
    path: bill(billIn("scheduled"), "/cancel"),
    filled: { text: { Why: "wrong week" } },
    button: "Cancel its payment",
  }),
  at("vendor", CORA, "/vendors/con_4"),
  at("vendor-held", CORA, "/vendors/con_2"),
  at(
    "vendor-changed-account",
    GRETA,
    service(({ changed }) => `/vendors/${changed.contact?.id}`),
  ),
  at(
    "vendor-of-the-service",
    GRETA,
    service(({ unplanned }) => `/vendors/${unplanned.contact?.id}`),
  ),
  at("vendor-nowhere", CORA, "/vendors/con_nowhere"),
  at("hold-vendor", CORA, "/vendors/con_4/hold?business=acme"),
];

/** Bills and incidents that wait for a person's decision. */
export const NEEDS_ACTION: readonly State[] = [
  at("needs-action", URSULA, "/needs-action"),
  at("needs-action-account", CORA, "/needs-action"),
  at("needs-action-nothing", IVY, "/needs-action"),
  at("resolve", URSULA, resolving("pbl_u_8", "pbl_u_9")),
  at("resolve-some-gone", URSULA, resolving("pbl_u_8", "pbl_gone")),
  at("resolve-nothing-ticked", URSULA, resolving()),
  at("resolve-all-gone", URSULA, resolving("pbl_gone")),
  answer("resolve-mistake", URSULA, { path: resolving("pbl_u_8"), button: "Do this" }),
  answer("resolved", URSULA, {
    path: resolving("pbl_u_8", "pbl_u_9"),
    filled: { check: ["Paid elsewhere"], text: { Why: "paid by card" } },
    button: "Do this",
  }),
  answer("resolve-tried-again", URSULA, {
    path: resolving("pbl_u_10", "pbl_u_12"),
    filled: { check: ["Try again"], text: { Why: "the vendor has called" } },
    button: "Do this",
  }),
  at("incident", URSULA, "/incidents/bank_1?business=umbrella"),
  at("incident-no-bill", OTTO, "/incidents/bank_1?business=acme"),
  answer("incident-mistake", URSULA, {
    path: "/incidents/bank_1?business=umbrella",
    button: "Decide",
  }),
  at("incident-not-yours", VERA, "/incidents/bank_1?business=acme"),
  answer("incident-decided", URSULA, {
    path: "/incidents/bank_1?business=umbrella",
    filled: { check: ["The money is there"], text: { Why: "seen on the statement" } },
    button: "Decide",
  }),
  at("incident-after", URSULA, "/incidents/bank_1?business=umbrella"),
];
