import { expect } from "vitest";
import { bills } from "../support/bills.ts";
import { generatedClient } from "../support/generated-client.ts";
import { openapiProblems } from "../support/openapi-problems.ts";
import { payrunTest } from "../support/payrun-test.ts";
import { ended, expectBank, scenePlaybook } from "../support/scene.ts";
import type { Person } from "../support/gateway-calls.ts";

const test = payrunTest();

interface Described {
  readonly paths: Record<string, Record<string, { responses: Record<string, Answered> }>>;
}

interface Answered {
  readonly content?: Record<string, { example?: unknown }>;
}

test("a client generated from the API's description launches, approves, follows and reports a run, and every answer is as described", async ({
  payrun,
}) => {
  const described = (await (await fetch(`${payrun.gatewayUrl}/openapi.json`)).json()) as Described;
  const client = await generatedClient(described);
  const as = (person: Person): RequestInit => ({
    headers: { authorization: `Bearer ${payrun.tokens.get(person)}` },
  });
  /** Puts an answer into the description as its example, so that the validator compares the two. */
  const noted = <Answer extends { readonly status: number; readonly data: unknown }>(
    [method, path]: readonly [string, string],
    answer: Answer,
  ): Answer => {
    const { responses } = described.paths[path]?.[method] ?? { responses: {} };
    const type = typeof answer.data === "string" ? "text/csv" : "application/json";
    const media = responses[String(answer.status)]?.content?.[type];
    expect(media, `${method} ${path} describes ${answer.status} ${type}`).toBeDefined();
    Object.assign(media ?? {}, { example: answer.data });
    return answer;
  };
  const made = await bills(payrun.sandbox, [125_00, 990_10], { description: "client" });
  await payrun.apply("client", scenePlaybook("client"));

  const launched = noted(
    ["post", "/v1/runs"],
    await client.launchRun({ playbook: "client" }, as("launcher")),
  );
  if (launched.status !== 201) throw new Error(`launch: ${JSON.stringify(launched)}`);
  const { id } = launched.data;
  const run = async () => {
    const answer = await client.getRun(id, { skipped: false }, as("launcher"));
    if (answer.status !== 200) throw new Error(`read: ${JSON.stringify(answer)}`);
    return noted(["get", "/v1/runs/{id}"], answer).data;
  };
  await expect.poll(async () => (await run()).phase).toBe("awaiting-approval");
  const planned = await run();
  expect(new Set(planned.payments.map(({ payableId }) => payableId))).toEqual(
    new Set(made.map((bill) => bill.id)),
  );

  const decide = async (person: Person, decision: "approve" | "reject" = "approve") => {
    const body = { decision, planHash: planned.planHash ?? "" };
    const answer = await client.decideRun(id, body, as(person));
    return noted(["post", "/v1/runs/{id}/decisions"], answer);
  };
  expect(await decide("launcher")).toMatchObject({ status: 403, data: { error: "launcher" } });
  expect(await decide("controller")).toMatchObject({ status: 200, data: { countsForCount: 2 } });
  await ended(payrun, id);
  expect(await run()).toMatchObject({
    phase: "completed",
    payments: [{ state: "settled" }, { state: "settled" }],
  });
  expect(await decide("controller", "reject")).toMatchObject({
    status: 409,
    data: { error: "run_ended" },
  });

  const reportAs = async (format: "json" | "csv") =>
    noted(
      ["get", "/v1/runs/{id}/report"],
      await client.getRunReport(id, { format }, as("launcher")),
    ).data;
  expect(await reportAs("json")).toMatchObject({ phase: "completed", settledCents: 1_115_10 });
  expect(await reportAs("csv")).toMatch(/^[\w,]+\r?\n.*settled/s);
  const listed = noted(
    ["get", "/v1/runs"],
    await client.listRuns(
      { kind: "pay-run", playbook: "client", needsAction: false, pageSize: 10 },
      as("launcher"),
    ),
  );
  expect(listed).toMatchObject({ status: 200, data: { items: [{ id }], nextPage: null } });
  const unknown = await client.launchRun({ playbook: "nobody" }, as("launcher"));
  expect(noted(["post", "/v1/runs"], unknown)).toMatchObject({
    status: 404,
    data: { error: "not_found" },
  });

  expect(await openapiProblems(described)).toEqual([]);
  await expectBank(
    payrun,
    made.map((bill) => [bill, bill.amountCents]),
  );
});
