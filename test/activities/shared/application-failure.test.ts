import { expect, test } from "vitest";
import { inFailures } from "../../../activities/shared/application-failure.ts";
import { PaymentsApiError } from "../../../src/payments-api/index.ts";

test("a history keeps the request and the code of a refusal, but not the service's words", async () => {
  const refused = new PaymentsApiError({
    ...{ method: "GET", path: "/v1/contacts/con_1", status: 422, code: "validation_error" },
    message: "The account 000123456789 of Ada Lovelace is closed.",
    outcome: "not_applied",
  });
  const failing = inFailures(() => Promise.reject(refused));
  await expect(failing({})).rejects.toMatchObject({
    message: "GET /v1/contacts/con_1: 422 validation_error",
    details: [{ code: "validation_error", status: 422 }],
  });
});
