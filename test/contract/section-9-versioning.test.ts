import { describe, expect } from "vitest";
import { reads } from "./sentences.ts";
import { contractWorld } from "./world.ts";

const world = contractWorld();

const versioned = ["payments", "payables", "contacts", "bank-accounts", "funding-sources"];

describe("versioning (API specification, section 9)", () => {
  for (const name of versioned) {
    reads(`${name} carry the prefix /v1`, async () => {
      const { status } = await world.api("GET", `/v1/${name}`);
      expect([200, 403]).toContain(status);
      expect((await world.api("GET", `/${name}`)).body).not.toHaveProperty("items");
    });
  }

  reads("businesses carry the prefix /api without a version segment", async () => {
    const { status } = await world.api("GET", "/api/businesses");
    expect([200, 403]).toContain(status);
    expect((await world.api("GET", "/api/v1/businesses")).body).not.toHaveProperty("items");
  });
});
