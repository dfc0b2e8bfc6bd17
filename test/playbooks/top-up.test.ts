import { expect, test } from "vitest";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { onlyMistake } from "./marked.ts";

const PAY = "kind: pay-run\npay:\n  from: balance\n";

test("a playbook without a top-up never makes a deposit", () => {
  const loaded = loadPlaybook("kind: pay-run\npay: { from: balance }", { file: "a.yaml" });
  expect(loaded).toMatchObject({ ok: true });
  if (loaded.ok && loaded.playbook.kind === "pay-run") {
    expect(loaded.playbook.pay.topUp).toBeUndefined();
  }
});

test("a deposit comes from the default account and needs one approval, unless the playbook says otherwise", () => {
  const text = `${PAY}  topUp: { by: [owner], atMost: $50k }`;
  expect(loadPlaybook(text, { file: "a.yaml" })).toMatchObject({
    ok: true,
    playbook: {
      pay: {
        topUp: {
          from: "default",
          by: ["owner"],
          quorum: 1,
          atMostCents: 5_000_000,
          arrivalBusinessDays: null,
        },
      },
    },
  });
});

test.each([
  [
    "into another source than the balance",
    "kind: pay-run\npay:\n  from: bank_1\n  «topUp»: { by: [owner], atMost: $5k }",
    "only into the balance",
  ],
  [
    "into whatever the default source is",
    "kind: pay-run\npay:\n  «topUp»: { by: [owner], atMost: $5k }",
    "only into the balance",
  ],
  ["of nothing", `${PAY}  topUp: { by: [owner], atMost: «$0» }`, "let nothing through"],
  ["without a limit", `${PAY}  «topUp»: { by: [owner] }`, "`atMost` is missing"],
  ["that nobody approves", `${PAY}  topUp: { by: «[]», atMost: $5k }`, "nobody could approve"],
  ["without anybody to approve", `${PAY}  «topUp»: { atMost: $5k }`, "`by` is missing"],
  [
    "for a quorum that nobody can reach",
    `${PAY}  topUp: { by: [owner], atMost: $5k, quorum: «11» }`,
    "nobody can reach",
  ],
  ["approved by one of Payrun's own", `${PAY}  topUp: { by: [«admin»], atMost: $5k }`, "own roles"],
  ["with a role named twice", `${PAY}  topUp: { by: [owner, «owner»], atMost: $5k }`, "twice"],
  [
    "out of the balance itself",
    `${PAY}  topUp: { from: «balance», by: [owner], atMost: $5k }`,
    "can't come from it",
  ],
  [
    "that would come after the bills were left to a person",
    `${PAY}  whenShort: stop\n  «topUp»: { by: [owner], atMost: $5k }`,
    "before a deposit could arrive",
  ],
])("a deposit %s is refused when the playbook is loaded", (_, marked, message) => {
  expect(onlyMistake(marked).message).toContain(message);
});
