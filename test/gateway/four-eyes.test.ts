import { expect } from "vitest";
import { listAudit } from "../../src/store/audit/audit.ts";
import { authorsOf, getPlaybook } from "../../src/store/playbooks/playbooks.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import { typed } from "./support/typed.ts";
import { type Answer, profile, type TestGateway } from "./support/gateway.ts";

const ONE = "kind: pay-run\n";
const TWO = "kind: pay-run\nreview: []\n";
const NO_LIMITS = { billCents: null, vendorPerWeekCents: null, businessPerWeekCents: null };
const WEEKLY = { business: "acme", name: "weekly" };

const test = gatewayTest({ profiles: [profile({ fourEyes: true })] })
  .extend("ada", ({ gateway }) => gateway.token("ada", ["admin"]))
  .extend("bea", ({ gateway }) => gateway.token("bea", ["admin"]));

const propose = (gateway: TestGateway, token: string, text: string): Promise<Answer> =>
  gateway.call("POST", "/v1/playbooks", token, { name: "weekly", text });

const confirm = (gateway: TestGateway, token: string, hash: unknown): Promise<Answer> =>
  gateway.call("POST", "/v1/playbooks/weekly/confirmation", token, { hash });

const inForce = async (gateway: TestGateway) => (await getPlaybook(gateway.store.db, WEEKLY))?.text;

test("a proposed playbook is in force once a second person has confirmed exactly that text", async ({
  gateway,
  ada,
  bea,
}) => {
  const proposed = await propose(gateway, ada, ONE);
  expect([proposed.status, proposed.json["revision"]]).toEqual([202, 1]);
  expect(await inForce(gateway)).toBeUndefined();
  const { json } = await gateway.call("GET", "/v1/playbooks/weekly/proposal", bea);
  expect(json).toMatchObject({ author: "ada", text: ONE, before: null });
  const first = await confirm(gateway, bea, json["hash"]);
  expect([first.status, first.json["revision"]]).toEqual([200, 1]);
  expect(await inForce(gateway)).toBe(ONE);
  expect((await confirm(gateway, bea, json["hash"])).status).toBe(404);

  const second = await propose(gateway, bea, TWO);
  const shown = await gateway.call("GET", "/v1/playbooks/weekly/proposal", ada);
  expect(shown.json).toMatchObject({ author: "bea", before: ONE });
  expect((await confirm(gateway, ada, json["hash"])).json["error"]).toBe("stale_proposal");
  expect((await confirm(gateway, ada, second.json["proposal"])).status).toBe(200);
  expect(await inForce(gateway)).toBe(TWO);
});

test("a proposal is confirmed by the first digits of its hash, as the playbook's history shows them", async ({
  gateway,
  ada,
  bea,
}) => {
  const { json } = await propose(gateway, ada, ONE);
  const confirmed = await typed(gateway, bea, [
    ...["playbook", "confirm", "weekly", "--hash", String(json["proposal"]).slice(0, 12)],
  ]);
  expect([confirmed.code, confirmed.stdout]).toEqual([
    0,
    expect.stringContaining("✓ weekly, revision 1"),
  ]);
});

test("nobody can confirm their own proposal, under any spelling of their name", async ({
  gateway,
  ada,
}) => {
  const { json } = await propose(gateway, ada, ONE);
  for (const name of ["ada", "ADA"]) {
    const again = await gateway.token(name, ["admin"]);
    expect((await confirm(gateway, again, json["proposal"])).json["error"]).toBe("not_confirmed");
  }
  expect(await inForce(gateway)).toBeUndefined();
});

test("a proposal that another person repeats keeps its author, who can't confirm it", async ({
  gateway,
  ada,
  bea,
}) => {
  const { json } = await propose(gateway, ada, ONE);
  expect((await propose(gateway, bea, ONE)).status).toBe(202);
  const shown = await gateway.call("GET", "/v1/playbooks/weekly/proposal", bea);
  expect(shown.json).toMatchObject({ author: "ada" });
  expect((await confirm(gateway, ada, json["proposal"])).json["error"]).toBe("not_confirmed");
  expect((await confirm(gateway, bea, json["proposal"])).status).toBe(200);
});

test("a later proposal replaces an earlier one, and applying the text in force proposes nothing", async ({
  gateway,
  ada,
  bea,
}) => {
  const first = await propose(gateway, ada, ONE);
  const second = await propose(gateway, bea, TWO);
  expect((await confirm(gateway, ada, first.json["proposal"])).json["error"]).toBe(
    "stale_proposal",
  );
  expect((await confirm(gateway, ada, second.json["proposal"])).status).toBe(200);
  expect((await propose(gateway, ada, TWO)).status).toBe(200);
  expect((await gateway.call("GET", "/v1/playbooks/weekly/proposal", bea)).status).toBe(404);
});

test("applying the text in force doesn't override what is confirmed at the same moment", async ({
  gateway,
  ada,
  bea,
}) => {
  const { json } = await propose(gateway, ada, ONE);
  await confirm(gateway, bea, json["proposal"]);
  const next = await propose(gateway, bea, TWO);
  const { store } = gateway;
  const transactionOf = store.transactionOf.bind(store);
  const first = async (...asked: Parameters<typeof transactionOf>): Promise<unknown> => {
    Object.assign(store, { transactionOf });
    expect((await confirm(gateway, ada, next.json["proposal"])).status).toBe(200);
    return transactionOf(...asked);
  };
  Object.assign(store, { transactionOf: first });
  expect((await propose(gateway, ada, ONE)).json["error"]).toBe("changed_meanwhile");
  expect(await inForce(gateway)).toBe(TWO);
  expect((await propose(gateway, ada, ONE)).status).toBe(202);
});

test("only the proposer counts as an author; both people are in the trail", async ({
  gateway,
  ada,
  bea,
}) => {
  const { json } = await propose(gateway, ada, ONE);
  await confirm(gateway, bea, json["proposal"]);
  const run = { business: "acme", playbook: "weekly", playbookRevision: 1 };
  expect(await authorsOf(gateway.store.db, run)).toEqual(["ada"]);
  const trail = await listAudit(gateway.store.db, { businessId: "biz_acme" });
  expect(trail.map(({ action, actor, details }) => [action, actor, details])).toEqual([
    ["playbook.proposed", "ada", { hash: json["proposal"] }],
    [
      "playbook.applied",
      "ada",
      {
        ...{ revision: 1, hash: json["proposal"], confirmedBy: "bea" },
        compiled: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ],
  ]);
});

const limited = gatewayTest({
  profiles: [profile({ fourEyes: true, limits: { ...NO_LIMITS, billCents: 5_000_000 } })],
});

limited("a playbook with a limit above its business's is refused", async ({ gateway }) => {
  const ada = await gateway.token("ada", ["admin"]);
  const laxer = await propose(gateway, ada, `${ONE}limits: { bill: $60k }\n`);
  expect([laxer.status, laxer.json["error"]]).toEqual([422, "limits_above_business"]);
  expect(laxer.json["message"]).toContain("limits.bill is $60,000.00");
  expect((await propose(gateway, ada, `${ONE}limits: { bill: $40k }\n`)).status).toBe(202);
});
