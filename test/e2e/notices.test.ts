import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { payrun as cli } from "../cli/cli.ts";
import { httpReceiver, smtpReceiver } from "../notices/receivers.ts";
import { bankDate } from "../support/bills.ts";
import { commandsOf, wordsOf } from "../support/docs.ts";
import { paidOnce } from "../support/payrun.ts";
import { approve, stacks, untilEnded } from "../support/stack.ts";
import { until } from "../support/waits.ts";

const start = stacks();
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const root = new URL("../../", import.meta.url);

/** Adds channels to the business's profile while everything runs. */
async function tell(file: string, notify: object): Promise<void> {
  const written = JSON.parse(await readFile(file, "utf8")) as { businesses: { default: object } };
  const profile = { ...written.businesses.default, notify };
  await writeFile(file, JSON.stringify({ businesses: { default: profile } }));
}

test("a run causes notices from its plan to its end over all channels, and its vendor one of the payment", async () => {
  const [hook, smtp] = [await httpReceiver(), await smtpReceiver()];
  const payrun = await start({ tokenFile: true });
  await tell(join(payrun.home, "profiles.yaml"), {
    smtp: { url: smtp.url, from: "payrun@acme.example" },
    channels: {
      ops: { webhook: hook.url, secret: SECRET },
      mail: { email: { controller: "cora@acme.example" } },
    },
  });
  const { sandbox } = payrun;
  const { body: vendor } = await sandbox.api<{ id: string }>("POST", "/v1/contacts", {
    body: {
      displayName: "Landlord",
      emails: ["office@landlord.example"],
      bankAccount: {
        accountNumber: "000123456789",
        routingNumber: "021000021",
        accountType: "checking",
      },
    },
  });
  const bill = await sandbox.control.createPayable({
    contactId: vendor.id,
    totalAmountCents: 210_000,
    dueDate: await bankDate(sandbox, 8),
    description: "Rent, December",
  });
  await payrun.apply(
    "month-end-vendors",
    await readFile(new URL("playbooks/month-end-vendors.yaml", root), "utf8"),
  );
  const runId = await payrun.launch("month-end-vendors");
  await payrun.untilPhase(runId, "awaiting-approval");
  await until(
    () => smtp.mails.map(({ source }) => /^Subject: (.*)\r$/m.exec(source)?.[1] ?? ""),
    (subjects) => subjects.some((subject) => subject.includes("1 bill of $2,100.00 waits")),
  );
  // The paying worker is killed; its successor must cause the same notices.
  await approve(payrun, runId);
  await payrun.killWorkers();
  await payrun.startWorker();
  expect((await untilEnded(payrun, runId)).phase).toBe("completed");
  const mail = await until(
    () => smtp.mails.filter(({ to }) => to.includes("office@landlord.example")),
    ({ length }) => length > 0,
  );
  expect(mail).toHaveLength(1);
  expect(mail[0]?.source).toContain("Rent, December");
  const types = await until(
    () => hook.received.map(({ body }) => (JSON.parse(body) as { type: string }).type),
    (all) => all.includes("payrun.run_completed"),
  );
  const once = ["payrun.approval_needed", "payrun.plan_warning", "payrun.run_completed"];
  expect(types.filter((type) => once.includes(type)).toSorted()).toEqual(once);
  const { actual, expected } = await paidOnce(payrun, new Map([[bill.id, 210_000]]));
  expect(actual).toEqual(expected);

  const commands = commandsOf("docs/notices.md");
  expect(commands).toHaveLength(7);
  const person = { name: "otto", roles: ["operator", "viewer"], createdBy: "setup" };
  const { token } = await createToken(payrun.store, { ...person, nowMs: Date.now() });
  const env = { PAYRUN_GATEWAY_URL: payrun.gatewayUrl, PAYRUN_TOKEN: token };
  const listed = await cli(["notices", "--json"], { env });
  const noticeId = listed.json<{ items: { id: string }[] }>().items[0]?.id ?? "";
  for (const command of commands) {
    const words = wordsOf(command.replace("RUN_ID", runId).replace("NOTICE_ID", noticeId));
    const { code, stdout, stderr } = await cli(words, { env });
    expect({ command, code, stderr }).toMatchObject({ command, code: 0 });
    if (command.includes("--bank-csv")) expect(stdout).toMatch(/,debit,2100\.00,,/);
    if (command.includes("--bank-days")) expect(stdout).toMatch(/,1,2100\.00,0,0\.00,-2100\.00/);
  }
});
