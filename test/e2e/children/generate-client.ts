import { dirname } from "node:path";
import { generate } from "orval";

/** Generates a client from an OpenAPI document: node generate-client.ts DOCUMENT CLIENT. */
const [document = "", client = ""] = process.argv.slice(2);
await generate(
  {
    input: { target: document },
    output: {
      target: client,
      client: "fetch",
      mode: "single",
      baseUrl: { getBaseUrlFromSpecification: true },
      urlEncodeParameters: true,
    },
  },
  dirname(client),
);
