import { expect, onTestFinished, test } from "vitest";
import { startTestGateway } from "../gateway/support/gateway.ts";
import { signedIn } from "./support/visits.ts";
import { seedWeekly } from "./support/weekly-run.ts";

const BILLS = 10_000;
const TIMES = 8;

test("pages of 10,000 bills take less than ten times the processor time of pages of 100 and less than twice the bytes", async () => {
  const pagesOf = async (bills: number) => {
    const gateway = await startTestGateway();
    onTestFinished(() => gateway.stop());
    const run = await seedWeekly(gateway.store, bills);
    const cora = await signedIn(gateway, "cora", ["controller", "owner"]);
    const page = `/runs/${encodeURIComponent(run.runId)}`;
    const last = `${page}?page=${bills / 50}`;
    const check = `${page}/approve?plan=${run.planHash}`;
    const paths = [
      page,
      last,
      check,
      "/",
      "/needs-action",
      `/reports${page.slice("/runs".length)}`,
    ];
    const read = [];
    for (const path of paths) {
      const times: number[] = [];
      let bytes = 0;
      for (let time = 0; time < TIMES; time += 1) {
        // The gateway runs in this process, so processor time excludes waits for other processes.
        const before = process.cpuUsage();
        const { status, html } = await cora.get(path);
        const { user, system } = process.cpuUsage(before);
        times.push((user + system) / 1_000);
        expect(status, path).toBe(200);
        bytes = html.length;
      }
      read.push({ path, ms: Math.min(...times), bytes });
    }
    return read;
  };
  const few = await pagesOf(100);
  const many = await pagesOf(BILLS);
  for (const [at, { path, ms, bytes }] of many.entries()) {
    expect(ms, path).toBeLessThan(10 * (few[at]?.ms ?? 0));
    expect(bytes, path).toBeLessThan(2 * (few[at]?.bytes ?? 0));
  }
});
