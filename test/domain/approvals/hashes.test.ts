import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import {
  type LineHashInput,
  lineHash,
  planHash,
  policyHash,
} from "../../../src/domain/approvals/hashes.ts";
import { APPROVAL_COVERS } from "../../../src/contracts/playbook.ts";
import { canonicalJson } from "../../../src/domain/canonical-json.ts";
import { payRunPlaybook } from "../../support/pay-run-playbook.ts";

const LINE: LineHashInput = {
  businessId: "biz_1",
  payableId: "payable_1",
  contactId: "contact_1",
  amountCents: 12_345,
  bankLast4: "6789",
  sourceId: "balance",
  pay: { paymentRail: "SERVICE", fundingSource: "balance", bankAccountId: "bank_main" },
  needsAchAuthorization: false,
  clearing: "STANDARD",
  dateRule: "by-due-date",
  approvers: ["owner", "controller"],
  quorum: 1,
};

/** Changed values for the fields that aren't plain strings. */
const OTHERS: Readonly<Record<string, unknown>> = {
  amountCents: 12_346,
  quorum: 2,
  pay: { paymentRail: "SERVICE", fundingSource: "balance", bankAccountId: "bank_two" },
  needsAchAuthorization: true,
  approvers: ["owner"],
};

const RULE = { review: false, overCents: null, where: null, by: ["owner"], quorum: 1 };

const PLAYBOOK = payRunPlaybook({ approve: [RULE] });

describe("a line's hash", () => {
  it("a line's hash never changes for the same line: stored approvals depend on it", () => {
    expect(lineHash(LINE)).toBe("5d34f5c0e3e35c5118185c0499ce62ee2c168f8c88c898ee9bbd084086fe34c7");
  });

  it.each(Object.keys(LINE))("a line's hash changes with %s", (key) => {
    const value = OTHERS[key] ?? "other";
    expect(lineHash({ ...LINE, [key]: value })).not.toBe(lineHash(LINE));
  });

  it("a line's hash doesn't depend on the order of its rule's roles", () => {
    expect(lineHash({ ...LINE, approvers: ["controller", "owner"] })).toBe(lineHash(LINE));
  });

  it("a line's hash differs for a missing and an empty bank account", () => {
    expect(lineHash({ ...LINE, bankLast4: null })).not.toBe(lineHash({ ...LINE, bankLast4: "" }));
  });
});

describe("stages", () => {
  const stages = [
    { by: ["controller"], quorum: 1 },
    { by: ["owner"], quorum: 2 },
  ] as const;
  const escalate = { after: { count: 2, unit: "days" }, to: ["cfo"] } as const;
  const others = [
    stages.toReversed(),
    [stages[0], { ...stages[1], quorum: 1 }],
    [{ ...stages[0], escalate }, stages[1]],
    [{ ...stages[0], escalate: { ...escalate, to: ["ceo"] } }, stages[1]],
  ];

  it("rules that add up, under which a line may fall, change its hash", () => {
    expect(lineHash({ ...LINE, sumRules: [0] })).not.toBe(lineHash(LINE));
  });

  it("stages change the hash of a line that has them, and of a plan's policy", () => {
    const ofLines = [stages, ...others].map((each) => lineHash({ ...LINE, stages: each }));
    expect(new Set([lineHash(LINE), ...ofLines]).size).toBe(6);
    const ofPolicies = [stages, ...others].map((each) =>
      policyHash({ ...PLAYBOOK, approve: [{ ...RULE, stages: each }] }),
    );
    expect(new Set([policyHash(PLAYBOOK), ...ofPolicies]).size).toBe(6);
  });

  it("policies without stages keep their hash", () => {
    expect(policyHash(PLAYBOOK)).toBe(
      "af90c3161c48410113f7d3cbfe64c7cbd9a5c96fe5993f604fbbcb8c97a75004",
    );
  });
});

describe("a policy's hash", () => {
  const { pay: ofPay, ...others } = APPROVAL_COVERS;
  const keys = [
    ...Object.entries(others).map(([key, covering]) => ({
      ...{ key, covering },
      changed: { ...PLAYBOOK, [key]: "other" },
    })),
    ...Object.entries(ofPay).map(([key, covering]) => ({
      ...{ key: `pay.${key}`, covering },
      changed: { ...PLAYBOOK, pay: { ...PLAYBOOK.pay, [key]: "other" } },
    })),
  ];

  it.each(keys.filter(({ covering }) => covering === "covered"))(
    "an approval covers $key: with another value the policy's hash is another",
    ({ changed }) => {
      expect(policyHash(changed)).not.toBe(policyHash(PLAYBOOK));
    },
  );

  it.each(keys.filter(({ covering }) => covering !== "covered"))(
    "an approval doesn't cover $key: with another value the policy's hash is the same",
    ({ changed }) => {
      expect(policyHash(changed)).toBe(policyHash(PLAYBOOK));
    },
  );

  it("a policy's hash doesn't depend on the order of roles and reasons", () => {
    const one = payRunPlaybook({
      review: ["new-vendor", "unusual-amount"],
      approve: [{ ...RULE, by: ["controller", "owner"] }],
    });
    const other = payRunPlaybook({
      review: ["unusual-amount", "new-vendor"],
      approve: [{ ...RULE, by: ["owner", "controller"] }],
    });
    expect(policyHash(one)).toBe(policyHash(other));
  });

  it("a policy's hash depends on the order of its rules: the first match counts", () => {
    const rules = [{ ...RULE, overCents: 100 }, RULE];
    expect(policyHash({ ...PLAYBOOK, approve: rules })).not.toBe(
      policyHash({ ...PLAYBOOK, approve: rules.toReversed() }),
    );
  });
});

describe("a plan's hash", () => {
  const plan = {
    lineHashes: ["b", "a", "c"],
    playbook: "weekly",
    playbookRevision: 1,
    policyHash: policyHash(PLAYBOOK),
  };

  it("a plan's hash doesn't depend on the order of its lines", () => {
    expect(planHash(plan)).toBe(planHash({ ...plan, lineHashes: ["c", "b", "a"] }));
    expect(planHash(plan)).toMatch(/^[0-9a-f]{64}$/);
  });

  it("a plan's hash changes with its lines, playbook, revision and policy", () => {
    const strict = { ...PLAYBOOK, approve: [{ ...RULE, quorum: 2 }] };
    const hashes = [
      planHash(plan),
      planHash({ ...plan, lineHashes: ["a", "b"] }),
      planHash({ ...plan, playbook: "monthly" }),
      planHash({ ...plan, playbookRevision: 2 }),
      planHash({ ...plan, policyHash: policyHash(strict) }),
      planHash({ ...plan, policyHash: policyHash({ ...PLAYBOOK, approvalValidDays: 31 }) }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe("canonical JSON", () => {
  test.prop([fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean()))])(
    "canonical JSON is one text for one value, whatever the order of its keys",
    (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(canonicalJson(value)).toBe(canonicalJson(reversed));
      expect(JSON.parse(canonicalJson(value))).toEqual(value);
    },
  );

  it("canonical JSON leaves out undefined members and refuses numbers without an exact text", () => {
    expect(canonicalJson({ b: [1, null], a: undefined })).toBe('{"b":[1,null]}');
    expect(() => canonicalJson(0.1)).toThrow(RangeError);
    expect(() => canonicalJson(Number.NaN)).toThrow(RangeError);
  });
});
