import { describe, expect } from "vitest";
import { listAudit, STORE_TRAIL } from "../../src/store/audit/audit.ts";
import { createToken, findToken, revokeToken } from "../../src/store/approvals/tokens.ts";
import { sharedGatewayTest } from "./support/gateway-test.ts";
import { profile, startTestGateway } from "./support/gateway.ts";
import { typed } from "./support/typed.ts";

const test = sharedGatewayTest()
  .extend("viewer", { scope: "file" }, ({ gateway }) => gateway.token("vic", ["viewer"]))
  .extend("launcher", { scope: "file" }, ({ gateway }) => gateway.token("lou", ["launcher"]))
  .extend("operator", { scope: "file" }, ({ gateway }) => gateway.token("oli", ["operator"]))
  .extend("admin", { scope: "file" }, ({ gateway }) => gateway.token("ada", ["admin"]))
  .extend("approver", { scope: "file" }, ({ gateway }) => gateway.token("cora", ["controller"]));

describe("tokens", () => {
  test.for(["/v1/runs", "/v1/playbooks", "/v1/holds", "/metrics", "/v1/payables/pay_1/history"])(
    "GET %s needs a token",
    async (path, { gateway }) => {
      const answer = await gateway.call("GET", path, null);
      expect(answer.status).toBe(401);
      expect(answer.json["error"]).toBe("unauthorized");
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    },
  );

  test("health, readiness and the API's description need no token", async ({ gateway }) => {
    expect((await gateway.call("GET", "/openapi.json", null)).status).toBe(200);
    expect((await gateway.call("GET", "/health", null)).json).toEqual({ status: "ok" });
    const ready = await gateway.call("GET", "/ready", null);
    expect(ready.status).toBe(200);
    const parts = { store: "ok", temporal: "unreachable", workers: "none" };
    expect(ready.json).toEqual({ status: "ready", ...parts });
  });

  test("unknown, expired and revoked tokens are refused, and never repeated in the answer", async ({
    gateway,
  }) => {
    const nowMs = Date.now();
    const { db } = gateway.store;
    const expired = await createToken(gateway.store, {
      name: "x",
      roles: ["admin"],
      createdBy: "setup",
      nowMs: nowMs - 2_000,
      expiresAtMs: nowMs - 1_000,
    });
    const revoked = await createToken(gateway.store, {
      name: "x",
      roles: ["admin"],
      createdBy: "setup",
      nowMs,
    });
    expect(await findToken(db, revoked.token)).toBeDefined();
    await revokeToken(gateway.store, revoked.tokenId, { by: "setup", nowMs });
    for (const token of ["payrun_unknown", expired.token, revoked.token]) {
      const answer = await gateway.call("GET", "/v1/runs", token);
      expect(answer.status).toBe(401);
      expect(answer.text).not.toContain(token);
    }
  });

  test("a token must be sent as Bearer", async ({ gateway, viewer }) => {
    const response = await fetch(`${gateway.url}/v1/runs`, {
      headers: { authorization: `Basic ${viewer}` },
    });
    expect(response.status).toBe(401);
  });

  test("a token of any role may read", async ({
    gateway,
    viewer,
    launcher,
    operator,
    admin,
    approver,
  }) => {
    for (const token of [viewer, launcher, operator, admin, approver]) {
      expect((await gateway.call("GET", "/v1/runs", token)).status).toBe(200);
    }
  });
});

describe("roles", () => {
  const hold = { all: true, reason: "a stop" };
  const playbook = { name: "weekly", text: "kind: pay-run" };
  test.beforeAll(async ({ gateway, admin }) => {
    const text = "kind: pay-run\napprove: [{ by: [controller] }]\n";
    await gateway.call("POST", "/v1/playbooks", admin, { name: "approved", text });
  });
  test.for<[string, string, object | undefined, string[]]>([
    ["POST", "/v1/runs", { playbook: "nothing" }, ["launcher", "admin"]],
    ["POST", "/v1/plans", { playbook: "nothing" }, ["launcher", "admin"]],
    ["POST", "/v1/playbooks", playbook, ["admin"]],
    ["POST", "/v1/holds", hold, ["operator", "admin", "controller"]],
    ["DELETE", "/v1/holds/nothing", undefined, ["operator", "admin", "controller"]],
    ["POST", "/v1/stops", { all: true, reason: "a stop" }, ["operator", "admin", "controller"]],
    ["POST", "/v1/releases", { by: "nobody" }, ["operator", "admin", "controller"]],
    ["POST", "/v1/runs/nothing/cancel", {}, ["operator", "admin"]],
    ["POST", "/v1/schedules/x/pause", {}, ["operator", "admin"]],
    ["POST", "/v1/schedules/x/resume", {}, ["operator", "admin"]],
    ["POST", "/v1/schedules/x/backfill", {}, ["launcher", "admin"]],
    ["DELETE", "/v1/schedules/x", undefined, ["admin"]],
    ["POST", "/v1/payables/x/resolution", { action: "retry", reason: "r" }, ["operator", "admin"]],
    [
      "POST",
      "/v1/resolutions",
      { reasonCode: "none", action: "retry", reason: "r" },
      ["operator", "admin"],
    ],
  ])(
    "%s %s is allowed only for its roles",
    async (
      [method, path, body, allowed],
      { gateway, viewer, launcher, operator, admin, approver },
    ) => {
      const tokens = { viewer, launcher, operator, admin, controller: approver };
      for (const [role, token] of Object.entries(tokens)) {
        const answer = await gateway.call(method, path, token, body);
        if (allowed.includes(role)) expect(answer.status).not.toBe(403);
        else {
          expect(answer.status).toBe(403);
          expect(answer.json["error"]).toBe("forbidden");
          expect(answer.json["message"]).toContain(allowed.join(", "));
        }
      }
    },
  );
});

test("refused tokens are recorded in the store's trail and the log, bounded and without the tokens", async () => {
  const own = await startTestGateway();
  try {
    const nowMs = Date.now();
    const maker = { roles: ["admin"], createdBy: "setup", nowMs };
    const revoked = await createToken(own.store, { ...maker, name: "rita" });
    await revokeToken(own.store, revoked.tokenId, { by: "setup", nowMs });
    const post = (token: string | null) =>
      own.call("POST", "/v1/runs/pay-run%2Facme%2Fw%2F2026-11-05/decisions", token, {});
    await post(revoked.token);
    await post(null);
    for (let guess = 0; guess < 35; guess += 1) await post(`payrun_guess_${guess}`);
    for (let again = 0; again < 9; again += 1) await post("payrun_guess_0");
    const refused = (await listAudit(own.store.db, { businessId: STORE_TRAIL })).filter(
      ({ action }) => action === "request.unauthorized",
    );
    const request = "POST /v1/runs/:id/decisions";
    expect(refused[0]).toMatchObject({
      actor: "rita",
      subject: revoked.tokenId,
      details: { why: "revoked", request, token: revoked.tokenId, times: 1 },
    });
    // Six are recorded by themselves; the others at their 1st and 10th; the first again at its
    // 10th.
    const times = [1, 1, 1, 1, 1, 1, 1, 1, 10, 10];
    expect(refused.map(({ details }) => details["times"])).toEqual(times);
    expect(refused.filter(({ subject }) => subject === "others")).toHaveLength(2);
    expect(refused[1]).toMatchObject({ actor: "somebody", details: { why: "unknown", request } });
    expect(own.logged.filter((line) => line.startsWith("refused a token"))).toHaveLength(10);
    const told = JSON.stringify(refused) + own.logged.join("\n");
    expect(told).not.toContain("payrun_");
    const metrics = await own.call("GET", "/metrics", await own.token("vic", ["viewer"]));
    expect(metrics.text).toContain('payrun_refused_requests_total{why="unknown"} 44');
    expect(metrics.text).toContain('payrun_refused_requests_total{why="no_token"} 1');
  } finally {
    await own.stop();
  }
});

test("requests that a token's roles don't allow are recorded in the trail; refused reads only once", async () => {
  const two = await startTestGateway({
    profiles: [profile(), profile({ name: "north", businessId: "biz_north" })],
  });
  try {
    const vera = await two.token("vera", ["viewer"]);
    const run = encodeURIComponent("pay-run/north/weekly/2026-11-05");
    for (const [method, path, body] of [
      ["POST", `/v1/runs/${run}/cancel`, {}],
      ["POST", "/v1/payables/bill_1/resolution?business=acme", { action: "give-up", reason: "r" }],
      ["POST", "/v1/holds", { all: true, reason: "stop" }],
    ] as const) {
      expect((await two.call(method, path, vera, body)).status).toBe(403);
    }
    const of = async (businessId: string) =>
      (await listAudit(two.store.db, { businessId }))
        .filter(({ action }) => action === "request.refused")
        .map(({ actor, subject, details }) => `${actor} ${subject} ${String(details["request"])}`);
    expect(await of("biz_north")).toEqual([
      "vera pay-run/north/weekly/2026-11-05 POST /v1/runs/{id}/cancel",
    ]);
    expect(await of("biz_acme")).toEqual(["vera bill_1 POST /v1/payables/{id}/resolution"]);
    for (const id of ["p1", "p2"]) {
      expect((await two.call("GET", `/v1/plans/${id}`, vera)).status).toBe(403);
    }
    expect(await of(STORE_TRAIL)).toEqual([
      "vera /v1/holds POST /v1/holds",
      "vera p1 GET /v1/plans/{id}",
    ]);
  } finally {
    await two.stop();
  }
});

describe("bad requests", () => {
  test("a bad request is refused with the name of the wrong field", async ({
    gateway,
    launcher,
  }) => {
    const answer = await gateway.call("POST", "/v1/runs", launcher, {
      playbook: "weekly",
      period: "tomorrow",
      planhash: "x",
    });
    expect(answer.status).toBe(400);
    expect(answer.json["error"]).toBe("validation_error");
    const details = answer.json["details"] as { field: string | null; message: string }[];
    expect(details.map((detail) => detail.field)).toEqual(["period", "planhash"]);
  });

  test("a field that an operation doesn't know is named by its path, also within a list", async ({
    gateway,
    launcher,
  }) => {
    const path = "/v1/runs/pay-run%2Facme%2Fweekly%2F2026-11-26/decisions";
    const { status, json } = await gateway.call("POST", path, launcher, {
      verifiedBankChanges: [{ contactId: "con_1", person: "Vera", phone: "555", date: "today" }],
      planhash: "x",
    });
    expect({ status, details: json["details"] }).toEqual({
      status: 400,
      details: [
        { field: "verifiedBankChanges.0.date", message: "is not known here" },
        { field: "planhash", message: "is not known here" },
      ],
    });
  });

  test.for([
    [{ playbook: 5 }, "Field playbook: must be a text"],
    [{ playbook: "weekly", force: "yes" }, "Field force: must be true or false"],
    [{ playbook: "weekly", inputs: [] }, "Field inputs: must be an object"],
    [[], "The body: must be an object"],
  ])(
    "a value of another type is refused in plain words: %j",
    async ([body, message], { gateway, launcher }) => {
      const answer = await gateway.call("POST", "/v1/runs", launcher, body);
      expect([answer.status, answer.json["message"]]).toEqual([400, message]);
    },
  );

  test.for([
    ["a number below its least", "/v1/runs?pageSize=0", "pageSize: must be at least 1"],
    ["a number above its most", "/v1/runs?pageSize=501", "pageSize: must be at most 500"],
  ])(
    "%s is refused with the bound, in plain words",
    async ([, path, message], { gateway, operator }) => {
      const answer = await gateway.call("GET", path ?? "", operator);
      expect([answer.status, answer.json["message"]]).toEqual([400, `Query parameter ${message}`]);
    },
  );

  test("a text that is too long is refused with the bound, in plain words", async ({
    gateway,
    operator,
  }) => {
    const hold = { payableId: "pbl_1", reason: "x".repeat(5_000) };
    const { status, json } = await gateway.call("POST", "/v1/holds", operator, hold);
    expect([status, json["message"]]).toEqual([
      400,
      "Field reason: must have at most 1,000 characters",
    ]);
  });

  test.for([
    ["broken JSON", "{", 400, "malformed_json"],
    ["a body that is no object", "[]", 400, "validation_error"],
    ["more than 1 MB", JSON.stringify({ x: "y".repeat(1_100_000) }), 413, "too_large"],
  ])("a request with %s is refused", async ([_what, body, status, code], { gateway, launcher }) => {
    const answer = await gateway.call("POST", "/v1/runs", launcher, body);
    expect(answer.status).toBe(status);
    expect(answer.json["error"]).toBe(code);
  });

  test.for([
    "/v1/stops?contact=con_osprey",
    "/v1/runs?states=paying",
    "/v1/conditions?business=acme",
  ])(
    "a request with an unknown query parameter is refused: %s",
    async (path, { gateway, operator }) => {
      const answer = await gateway.call("GET", path, operator);
      expect(answer.status).toBe(400);
      expect(answer.json["message"]).toMatch(/^Query parameter \w+: is not known here/);
    },
  );

  test.for([
    ["GET", "/v1/runs?to=9999-12-31", "to"],
    ["GET", "/v1/runs?from=0001-01-01", "from"],
    ["GET", "/v1/runs?page=9007199254740991", "page"],
    ["GET", "/v1/runs/nothing?page=9007199254740991", "page"],
    ["GET", "/v1/runs?needsAction=true&needsAction=false", "needsAction"],
    ["GET", "/v1/runs?phase=paying&phase=paying", "phase"],
    ["POST", "/v1/runs", "period", { playbook: "weekly", period: "9999-12-31", force: true }],
    ["POST", "/v1/holds", "until", { all: true, reason: "r", until: "9999-12-31" }],
    ["POST", "/v1/holds", "until", { all: true, reason: "r", until: "P1000000Y" }],
    ["POST", "/v1/holds", "until", { all: true, reason: "r", until: "P9999Y" }],
    ["POST", "/v1/holds", "until", { all: true, reason: "r", until: "9999-12-31T23:59:59-14:00" }],
    [
      "POST",
      "/v1/tokens",
      "expiresAt",
      { name: "zoe", roles: ["viewer"], expiresAt: "9999-12-31T23:59:59-14:00" },
    ],
    ["POST", "/v1/holds", "reason", '{"all":true,"reason":"r","reason":"s"}'],
    ["POST", "/v1/runs/x/decisions", "drop", '{"planHash":"h","drop":["a"],"\\u0064rop":["b"]}'],
  ] as const)(
    "%s %s is refused because of %s, whose value is absurd or there twice",
    async ([method, path, field, body], { gateway, admin }) => {
      const answer = await gateway.call(method, path, admin, body);
      expect([answer.status, answer.json]).toMatchObject([
        400,
        { error: "validation_error", details: [{ field }] },
      ]);
    },
  );

  test("a request with another content type is refused with 415", async ({ gateway, launcher }) => {
    const response = await fetch(`${gateway.url}/v1/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${launcher}`, "content-type": "text/plain" },
      body: "{}",
    });
    expect(response.status).toBe(415);
  });

  test("a request to an unknown address is answered with where to look", async ({
    gateway,
    admin,
  }) => {
    for (const path of ["/v1/nothing", "/v1/onboardings/acme/nothing", "/codec/encode", "/"]) {
      const answer = await gateway.call("POST", path, admin, {});
      expect(answer.status).toBe(404);
      expect(answer.json["error"]).toBe("not_found");
      expect(answer.json["message"]).toContain("openapi.json");
    }
  });

  test("an unknown address is a page for browsers, and JSON for programs", async ({ gateway }) => {
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    const page = await fetch(`${gateway.url}/nothing`, { headers: { accept } });
    expect(page.status).toBe(404);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toContain("There is no such page");
    const answer = await fetch(`${gateway.url}/v1/nothing`, { headers: { accept } });
    expect(answer.headers.get("content-type")).toContain("application/json");
  });

  test("an internal error shows no stack trace, and can be found in the log by its id", async ({
    gateway,
    viewer,
  }) => {
    await gateway.store.db.schema.alterTable("holds").renameTo("holds_away").execute();
    try {
      const answer = await gateway.call("GET", "/v1/holds", viewer);
      expect(answer.status).toBe(500);
      expect(answer.json["error"]).toBe("internal_error");
      expect(answer.text).not.toMatch(/at \w+.*\.ts|holds_away|no such table/);
      const id = answer.headers.get("x-request-id") ?? "none";
      expect(gateway.logged.join("\n")).toContain(id);
      const { stderr } = await typed(gateway, viewer, ["holds"]);
      const [, named] = /under this request's X-Request-Id\. It is (\S+)\.\n/.exec(stderr) ?? [];
      expect(gateway.logged.filter((line) => line.includes(named ?? "none"))).toHaveLength(1);
      // The log line names the run or the bill.
      await gateway.call("GET", "/v1/payables/pbl_1/history", viewer);
      const lines = gateway.logged.join("\n");
      expect(lines).toContain('"payableId":"pbl_1"');
    } finally {
      await gateway.store.db.schema.alterTable("holds_away").renameTo("holds").execute();
    }
  });
});
