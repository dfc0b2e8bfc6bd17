import { parseArgs } from "node:util";

import { bindTokens } from "../src/cli/home/people.ts";
import { ensureLocalAdmin, ensureLocalApprover } from "../src/cli/parts/ensure-people.ts";
import { ensureEncryptionKey } from "../src/cli/home/local-keys.ts";
import { connectSandbox, knownSandboxBusiness } from "../src/cli/parts/sandbox-business.ts";
import { loadConfig } from "../src/config.ts";
import { openStore } from "../src/store/open.ts";

/**
 * Prepares a volume for the worker and the gateway, as `payrun up` prepares its home: the store,
 * the tokens of the local administrator and of who approves what that one launches, a key for what
 * is personal, and the sandbox's company as the business. Safe to run again.
 */
const { values } = parseArgs({
  options: {
    /** Where the containers reach the sandbox. */
    sandbox: { type: "string", default: "http://sandbox:8089" },
    /** Where the sandbox, and commands in the gateway's container, reach the gateway. */
    gateway: { type: "string", default: "http://127.0.0.1:8088" },
  },
});

const config = loadConfig();
const store = await openStore(config.databaseUrl);
try {
  await ensureLocalAdmin(store, config.home);
  await ensureLocalApprover(store, config.home);
  bindTokens(config.home, values.gateway);
  if (config.encryptionKeys.length === 0) ensureEncryptionKey(config.home);
} finally {
  await store.close();
}

const known = knownSandboxBusiness(config.home);
const made =
  known === undefined
    ? await sampleCompany(values.sandbox)
    : { businesses: [{ businessId: known }] };
const business = await connectSandbox({
  home: config.home,
  greeting: { url: values.sandbox, ...made },
  gatewayUrl: values.gateway,
});
process.stdout.write(`prepared: business ${business.businessId} at ${business.apiUrl}\n`);

async function sampleCompany(sandbox: string): Promise<object> {
  const answer = await fetch(`${sandbox}/sandbox/reset`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fixture: "sample" }),
  });
  const body: unknown = await answer.json();
  if (!answer.ok || typeof body !== "object" || body === null) {
    throw new Error(`the sandbox at ${sandbox} answered ${answer.status} to a reset`);
  }
  return body;
}
