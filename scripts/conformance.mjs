import { spawn } from "node:child_process";
import process from "node:process";
import { parseArgs } from "node:util";

import { fetchOut } from "./setup/proxy.mjs";
import { inCheckout, setUp } from "./setup/set-up.mjs";

const USAGE = `Usage: npm run conformance -- --url URL --token TOKEN [options]

Asks a Payments Service whether it does what the API specification says, and reports sentence by
sentence. Meant for a test environment: unless told otherwise it creates contacts and a webhook
endpoint, and archives or deletes them again.

Options:
  --url URL         address of the service, such as https://api.example.com
  --token TOKEN     bearer token; without it CONFORMANCE_TOKEN is read, which no process list shows
  --read-only       create nothing: only reads, and requests that must be refused
  --with-payments   also schedule payments of one cent from the balance, and cancel them again
                    (the bills that the service makes for them stay)
  --help            show this

Exit code: 0 all that was checked is true, 1 something is not, 2 wrong usage or no such service.
`;

/** The usage is wrong or there is no such service, so nothing was checked. */
class UsageError extends Error {}

/**
 * @typedef {{ url: string, token: string, allow: string[] }} Wanted
 */

/**
 * @param {string[]} args
 * @returns {Wanted | "help"}
 */
function wantedBy(args) {
  const { url, token, help, readOnly, withPayments } = parsed(args);
  if (help) return "help";
  if (!url) throw new UsageError("--url is missing");
  if (!isAddress(url)) throw new UsageError("--url must be an http or https address");
  if (!token) throw new UsageError("--token is missing");
  if (readOnly && withPayments) {
    throw new UsageError("--read-only and --with-payments contradict each other");
  }
  const allow = readOnly ? [] : withPayments ? ["writes", "payments"] : ["writes"];
  return { url, token, allow };
}

/** @param {string[]} args */
function parsed(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        url: { type: "string" },
        token: { type: "string", default: process.env["CONFORMANCE_TOKEN"] ?? "" },
        "read-only": { type: "boolean", default: false },
        "with-payments": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    return { ...values, readOnly: values["read-only"], withPayments: values["with-payments"] };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the options can't be read");
  }
}

/** @param {string} text */
function isAddress(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (url?.protocol === "http:" || url?.protocol === "https:") && url.username === "";
}

/**
 * Makes one request, so that a wrong address or token is reported once and not by every test.
 *
 * @param {Wanted} wanted
 */
async function knock({ url, token }) {
  const path = `${url.replace(/\/+$/, "")}/v1/contacts?pageSize=1`;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetchOut(path, { headers, signal: AbortSignal.timeout(30_000) }).catch(
    () => undefined,
  );
  if (answer === undefined) {
    throw new UsageError(`${url} can't be reached; check the address and the network`);
  }
  if (answer.status === 401) throw new UsageError("the service refuses the token (401)");
}

/**
 * @param {Wanted} wanted
 * @returns {Promise<boolean>} true if everything that was checked is true
 */
function ask({ url, token, allow }) {
  const vitest = inCheckout("node_modules", "vitest", "vitest.mjs");
  const flags = ["run", "--project=unit", "--reporter=verbose", "--no-file-parallelism"];
  const child = spawn(process.execPath, [vitest, ...flags, "test/contract/section-"], {
    cwd: inCheckout(),
    stdio: "inherit",
    env: {
      ...process.env,
      CONFORMANCE_URL: url,
      CONFORMANCE_TOKEN: token,
      CONFORMANCE_ALLOW: allow.join(","),
    },
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code === 0));
  });
}

try {
  const wanted = wantedBy(process.argv.slice(2));
  if (wanted === "help") {
    process.stdout.write(USAGE);
  } else {
    await knock(wanted);
    await setUp({ temporalCli: false });
    const isTrue = await ask(wanted);
    process.stdout.write(
      isTrue
        ? "All that was checked is as the specification says; ↓ was not checked, and says why.\n"
        : "Some sentences of the specification are not true of this service: see × above.\n",
    );
    process.exitCode = isTrue ? 0 : 1;
  }
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
