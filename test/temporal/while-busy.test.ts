import { ServiceError } from "@temporalio/client";
import { expect, test } from "vitest";
import { whileBusy } from "../../src/temporal/while-busy.ts";

/** Fails like a call that the server refuses. */
function refused(code: number): ServiceError {
  const cause = Object.assign(new Error("refused"), { code, details: "", metadata: {} });
  return new ServiceError("Failed to describe schedule", { cause });
}

test("what a busy server refuses is asked again until it answers", async () => {
  let asked = 0;
  const ask = async (): Promise<string> => {
    asked += 1;
    if (asked < 4) throw refused(8);
    return "as it is";
  };
  expect(await whileBusy(ask)).toBe("as it is");
  expect(asked).toBe(4);
});

test("any other refusal is passed on at once", async () => {
  let asked = 0;
  const ask = (): Promise<never> => {
    asked += 1;
    return Promise.reject(refused(5));
  };
  await expect(whileBusy(ask)).rejects.toThrow("Failed to describe schedule");
  expect(asked).toBe(1);
});
