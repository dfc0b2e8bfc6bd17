import { expect, test } from "vitest";
import { unheldRoles } from "../../../src/domain/approvals/roles-asked.ts";
import { payRunPlaybook } from "../../support/pay-run-playbook.ts";

const HELD = new Set(["controller", "owner", "operator"]);

test.each([
  ["a role that nobody has, and what was probably meant", ["cotroller"], ["controller"]],
  [
    "a role that looks mistyped beside one that somebody has",
    ["cotroller", "owner"],
    ["controller"],
  ],
  ["no role that may just be free beside one that somebody has", ["cfo", "owner"], undefined],
  ["no role that is near another one of its own rule", ["controllers", "controller"], undefined],
])("a warning about approvers names %s", (_, by, meant) => {
  const approve = [{ review: false, overCents: null, where: null, by, quorum: 1 }];
  const found = unheldRoles(payRunPlaybook({ approve }), HELD);
  expect(found.map((each) => each.meant)).toEqual(meant === undefined ? [] : [meant]);
});
