import { readFile } from "node:fs/promises";
import { describe, expect } from "vitest";
import type { CancellationStatus } from "../../src/api/cancellations.ts";
import type { RunStatus } from "../../src/api/runs.ts";
import { bills } from "../support/bills.ts";
import { hasEnded, scheduledBill, untilCancellation } from "../support/cancellations.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { expectBank } from "../support/scene.ts";
import { approve, untilEnded } from "../support/stack.ts";
import { until } from "../support/waits.ts";

interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly playbook: string;
}

const test = payrunTest();

async function applyExample(payrun: TestPayrun, name: string): Promise<void> {
  const file = new URL(`../../playbooks/${name}.yaml`, import.meta.url);
  await payrun.apply(name, await readFile(file, "utf8"));
}

/** Waits until a run of a playbook is listed. */
async function listed(payrun: TestPayrun, playbook: string): Promise<string> {
  const run = async (): Promise<Listed | undefined> => {
    const path = "/v1/runs?pageSize=100";
    const { body } = await payrun.call<{ items: Listed[] }>("operator", "GET", path);
    return body.items.find((each) => each.playbook === playbook);
  };
  return (await until(run, (found) => found !== undefined)).id;
}

describe("the examples of docs/events.md", () => {
  test("a vendor's change cancels its scheduled payment, and the cancellation names the event", async ({
    payrun,
  }) => {
    await applyExample(payrun, "stop-changed-vendors");
    const { bill, paymentId } = await scheduledBill(payrun, 120_00);
    await payrun.sandbox.control.changeContact(bill.contactId, { phone: "+1 212 555 0100" });
    const id = await listed(payrun, "stop-changed-vendors");
    const done: CancellationStatus = await untilCancellation(payrun, id, "ended", hasEnded);
    expect(done).toMatchObject({
      phase: "completed",
      launchedBy: "events of stop-changed-vendors",
      startedBy: [{ type: "contact.updated", objectId: bill.contactId }],
      payments: [{ paymentId, state: "cancelled" }],
    });
    await expectBank(payrun, [[bill, 0]]);
  });

  test("a bill that is created at the service is planned off-cycle, and paid once it is approved", async ({
    payrun,
  }) => {
    await applyExample(payrun, "pay-when-approved");
    const [bill] = await bills(payrun.sandbox, [80_00], { description: "A utility bill" });
    const runId = await listed(payrun, "pay-when-approved");
    const planned: RunStatus = await payrun.untilPhase(runId, "awaiting-approval");
    expect(planned.payments).toMatchObject([{ payableId: bill?.id, amountCents: 80_00 }]);
    expect(planned.startedBy).toMatchObject([{ type: "payable.created", objectId: bill?.id }]);
    await approve(payrun, runId);
    const done = await untilEnded(payrun, runId);
    expect(done.counts.settled).toBe(1);
    await expectBank(payrun, [[bill, 80_00]]);
  });
});
