import { msToTs } from "@temporalio/common/lib/time.js";
import { expect, inject, test } from "vitest";
import { SEARCH_ATTRIBUTES } from "../../src/contracts/search-attributes.ts";
import { registerSearchAttributes } from "../../src/temporal/search-attributes.ts";
import { lazyConnection } from "../../src/temporal/connection.ts";

test("a bare namespace gets the search attributes once, no matter how many processes start", async () => {
  const connection = lazyConnection({ address: inject("temporalAddress") });
  try {
    const namespace = `bare-${Date.now()}`;
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs("1 day"),
    });
    const both = await expect
      .poll(
        () =>
          Promise.all([
            registerSearchAttributes(connection, namespace),
            registerSearchAttributes(connection, namespace),
          ]).catch(() => undefined),
        { interval: 500 },
      )
      .toBeDefined()
      .then(() => registerSearchAttributes(connection, namespace));
    expect(both).toEqual([]);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace,
    });
    expect(Object.keys(customAttributes ?? {})).toEqual(
      expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)),
    );
  } finally {
    await connection.close();
  }
});
