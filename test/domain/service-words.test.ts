import { expect, test } from "vitest";
import { faultOfRead } from "../../activities/shared/business-fault.ts";
import { textOfError } from "../../activities/shared/error-text.ts";
import { forHistory, timerText } from "../../src/domain/history-texts.ts";
import { serviceSays } from "../../src/domain/service-words.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";

const WORDS = "Ada Lovelace (ada@example.com) hasn't signed “the form” yet";

const forbidden = new PaymentsApiError({
  ...{ method: "GET", path: "/v1/payments", status: 403, code: "forbidden" },
  ...{ message: WORDS, outcome: "not_applied" },
});

test("people read the service's own words about a refusal", () => {
  expect(textOfError(forbidden)).toBe(
    "GET /v1/payments: 403 forbidden. The service says: “Ada Lovelace (ada@example.com) hasn't signed “the form' yet”",
  );
  expect(faultOfRead(forbidden, "forbidden_read")?.message).toContain("ada@example.com");
});

test("a history doesn't contain the service's words", () => {
  const { message = "" } = faultOfRead(forbidden, "forbidden_read") ?? {};
  const look = {
    waitingFor: `the service: ${message}, 3 bills on hold`,
    details: `**rent**: waits for ${message}.\n\nCall ••6789.`,
    soFar: message,
    wakeInMs: 1,
    outcome: `the vendor's bank account changed from ••6789 to ••6780, ${message}`,
  };
  const kept = forHistory(look);
  expect(JSON.stringify(kept)).not.toMatch(/Ada|example|signed|678/);
  expect(kept.waitingFor).toBe("the service: The token lacks a scope (403)., 3 bills on hold");
  expect(timerText(look)).not.toMatch(/Ada|example|signed/);
});

test("the service's words are removed from a history even if they were cut off", () => {
  const cut = `Refused (x).${serviceSays(WORDS)}`.slice(0, 60);
  expect(forHistory({ waitingFor: cut, details: "", wakeInMs: 1 }).waitingFor).toBe("Refused (x)");
});

test("a refusal without the service's own words adds no text", () => {
  expect(serviceSays("  ")).toBe("");
  expect(serviceSays(null)).toBe("");
});
