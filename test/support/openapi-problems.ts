import { createConfig, lintFromString } from "@redocly/openapi-core";

/**
 * Returns what a validator finds wrong with an OpenAPI document: its structure, the values of its
 * examples, and the names of its operations.
 */
export async function openapiProblems(document: object): Promise<string[]> {
  const config = await createConfig({
    extends: ["recommended-strict"],
    rules: {
      "no-invalid-media-type-examples": "error",
      "no-invalid-schema-examples": "error",
      "no-invalid-parameter-examples": "error",
      "operation-operationId": "error",
      "operation-operationId-unique": "error",
      "operation-operationId-url-safe": "error",
      "no-unused-components": "error",
      // Health refuses nobody, and tests listen on this machine.
      "operation-4xx-response": "off",
      "no-server-example.com": "off",
    },
  });
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: "/openapi.json",
    config,
  });
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer ?? "#"}: ${message}`,
  );
}
