import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import type { OpenApiSchema } from "./json-schemas.ts";

type App = Hono<{ Bindings: HttpBindings }>;

/**
 * The files that the page loads. They come from the package on this machine, so that the page works
 * without a network.
 */
const assets = {
  "swagger-ui.css": {
    type: "text/css",
    url: import.meta.resolve("swagger-ui-dist/swagger-ui.css"),
  },
  "swagger-ui-bundle.js": {
    type: "text/javascript",
    url: import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js"),
  },
  "favicon-32x32.png": {
    type: "image/png",
    url: import.meta.resolve("swagger-ui-dist/favicon-32x32.png"),
  },
} as const;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Payments Service (sandbox)</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const start = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: true,
  validatorUrl: null,
});
`;

/** Serves the document at `/openapi.json` and renders it at `/docs`; neither takes a token. */
export function addDocumentRoutes(app: App, makeDocument: () => OpenApiSchema): void {
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= JSON.stringify(makeDocument());
    return c.body(document, 200, { "content-type": "application/json" });
  });
  app.get("/docs", (c) => c.html(page));
  app.get("/docs/start.js", (c) => c.body(start, 200, { "content-type": "text/javascript" }));
  for (const [name, { type, url }] of Object.entries(assets)) {
    app.get(`/docs/${name}`, async (c) => {
      const content = await readFile(fileURLToPath(url));
      return c.body(content, 200, { "content-type": type });
    });
  }
}
