import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { z } from "zod";

import { ErrorBody } from "../../api/system.ts";
import type { CliError } from "../terminal/cli-error.ts";
import { printable } from "../terminal/text.ts";
import type { Demo } from "./context.ts";
import type { DemoPerson } from "./people.ts";

const PROGRAM = fileURLToPath(new URL("other-system.ts", import.meta.url));
const LIMIT_MS = 30_000;

/** Describes to the reader how a decision was made. */
export const OVER_HTTP = "over HTTP, by a process of its own";

interface Said {
  /** The gateway's responses, one for each action. */
  readonly answers: unknown;
  readonly refusal?: { readonly code: string; readonly message: string };
}

/** Starts another process, which decides over HTTP with a person's token. */
export async function asAnotherSystem(
  { gateway, people }: Demo,
  person: DemoPerson,
  words: readonly string[],
): Promise<Said> {
  const who = ["--gateway", gateway.url, "--token-file", people.tokenFile(person)];
  const answers = await output(process.execPath, [PROGRAM, ...who, ...words]);
  if (Array.isArray(answers)) return { answers };
  const refused = ErrorBody.safeParse(answers).data;
  const message = refused?.message ?? "the other system did not answer";
  return { answers: [], refusal: { code: refused?.error ?? "", message } };
}

/** Returns the status and message of a refusal by the gateway. */
export function gatewayRefusalText({ details, message }: CliError): string {
  const status = z.object({ status: z.int() }).safeParse(details).data?.status ?? "";
  return `${status} ${printable(message)}`;
}

function output(command: string, args: readonly string[]): Promise<unknown> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: LIMIT_MS }, (_error, stdout) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        resolve(undefined);
      }
    });
  });
}
