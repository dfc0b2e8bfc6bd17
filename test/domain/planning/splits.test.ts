import { expect, test } from "vitest";
import { bill, planOf, PLAYBOOK, vendor, type World } from "./fixtures.ts";

const RULES = PLAYBOOK.approve.slice(1);
const SPLITS = {
  ...PLAYBOOK,
  select: { due: "all" as const },
  review: ["split-below-limit" as const],
  approve: RULES,
};

const JUST_BELOW = 2_450_000;

/** What is said of each bill that is flagged. */
function splits(world: World, changes: Parameters<typeof planOf>[1] = {}): Record<string, string> {
  const { lines } = planOf(world, { playbook: SPLITS, ...changes });
  return Object.fromEntries(
    lines.flatMap(({ payableId, flags }) =>
      flags.filter(({ kind }) => kind === "split-below-limit").map(({ text }) => [payableId, text]),
    ),
  );
}

test("bills just below an amount are flagged with each other and their sum, and a bill above it is not", () => {
  const bills = [
    ...["a", "b", "c"].map((id) => bill(id, { totalCents: JUST_BELOW, dueDate: "2026-12-01" })),
    bill("large", { totalCents: 3_000_000, dueDate: "2026-12-01" }),
    bill("later", { totalCents: JUST_BELOW, dueDate: "2026-12-20" }),
    bill("another", { totalCents: JUST_BELOW, dueDate: "2026-12-01", contactId: "v2" }),
  ];
  const vendors = [vendor("v1"), vendor("v2", { bankLast4: "2222" })];
  const found = splits({ bills, vendors });
  expect(Object.keys(found).toSorted()).toEqual(["a", "b", "c"]);
  expect(found["a"]).toBe(
    "With B-b ($24,500.00 on 2026-11-25) and B-c ($24,500.00 on 2026-11-25) it comes to $73,500.00 within 10 days, above $25,000.00; none of them is alone.",
  );
  const notNamed = { ...SPLITS, review: ["unusual-amount" as const] };
  expect(splits({ bills, vendors }, { playbook: notNamed })).toEqual({});
});

test("a vendor's other record is found by its folded name or its account, and a limit for a bill counts like a rule", () => {
  const at = { totalCents: JUST_BELOW, dueDate: "2026-12-01" };
  const bills = [bill("a", at), bill("b", { ...at, contactId: "v2" })];
  const pair = (changes: Parameters<typeof vendor>[1]) => ({
    bills,
    vendors: [vendor("v1", { name: "Acme Inc." }), vendor("v2", { bankLast4: "2222", ...changes })],
  });
  expect(Object.keys(splits(pair({ name: "ACME" })))).toEqual(["a", "b"]);
  expect(Object.keys(splits(pair({ bankLast4: "1111" })))).toEqual(["a", "b"]);
  expect(splits(pair({}))).toEqual({});
  const approve = RULES.slice(1);
  const limits = { ...PLAYBOOK.limits, billCents: 3_000_000 };
  const limited = { playbook: { ...SPLITS, approve }, limits };
  expect(splits(pair({ name: "ACME" }), limited)["a"]).toContain("above $30,000.00");
});

test("lines of other runs count within ten days from the first to the last, and earlier parts of a bill only in its total", () => {
  const at = { totalCents: 1_000_000, dueDate: "2026-12-01" };
  const bills = [bill("a", at), ...["b", "c"].map((id) => bill(id, { ...at, status: "void" }))];
  const near = (payableId: string, executionDate: string) => ({
    ...{ payableId, contactId: "v1", amountCents: 800_000, executionDate },
  });
  const with_ = (...lines: readonly ReturnType<typeof near>[]) =>
    Object.keys(splits({ bills }, { near: lines }));
  // The bill itself is paid on November 25.
  expect(with_(near("b", "2026-11-20"), near("c", "2026-11-30"))).toEqual(["a"]);
  expect(with_(near("b", "2026-11-19"), near("c", "2026-11-30"))).toEqual([]);
  expect(with_(near("a", "2026-11-20"), near("b", "2026-11-20"))).toEqual([]);
});
