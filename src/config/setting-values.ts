import { isIP } from "node:net";
import { resolve } from "node:path";
import { z } from "zod";
import { namesSeveralHosts, SEVERAL_HOSTS } from "../contracts/several-hosts.ts";
import { PLAINTEXT_PARTS } from "./plaintext.ts";

export const textSetting = z.string();
export const path = z.string().transform((value) => resolve(value));

export function port(highest: number): z.ZodType<number, string> {
  const message = `must be a port number from 0 (any free one) to ${highest}`;
  return z
    .string()
    .regex(/^\d{1,5}$/, message)
    .transform(Number)
    .refine((value) => value <= highest, message);
}

export const httpUrl = z
  .string()
  .refine(
    (value) => isHttpUrl(value),
    "must be an http:// or https:// address without a user, a query or a fragment",
  )
  .transform((value) => value.replace(/\/+$/, ""));

function isHttpUrl(value: string): boolean {
  const url = URL.parse(value);
  return (
    url !== null &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.hostname !== "" &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === ""
  );
}

const LISTEN_MESSAGE = "must be HOST:PORT, such as 127.0.0.1:9464";

/** A listen address; an IPv6 host is in brackets. */
export const listenAddress = z
  .string()
  .regex(/^(\[[\da-f:.]+\]|[\w.-]+):\d{1,5}$/i, LISTEN_MESSAGE)
  .refine((value) => Number(value.slice(value.lastIndexOf(":") + 1)) <= 65_535, LISTEN_MESSAGE);

const DOLLARS = /^\$(\d{1,3}(?:,\d{3})+|\d{1,10})(?:\.(\d{1,2}))?([kKM]?)$/;
const DOLLARS_MESSAGE =
  "must be an amount in US dollars, such as $50k, $1.5M, $75,000 or $1,234.56";
const TIMES: Readonly<Record<string, number>> = { k: 1_000, K: 1_000, M: 1_000_000 };
const MOST_CENTS = 1_000_000_000_000;

/** An amount as playbooks write it, in cents. */
export const dollars = z.string(DOLLARS_MESSAGE).transform((value, context) => {
  const [, whole, part = "", unit = ""] = DOLLARS.exec(value.trim()) ?? [];
  const cents = Number(`${whole?.replaceAll(",", "")}${part.padEnd(2, "0")}`) * (TIMES[unit] ?? 1);
  if (cents <= MOST_CENTS) return cents;
  context.addIssue({ code: "custom", message: DOLLARS_MESSAGE });
  return z.NEVER;
});

/** `true`, `yes`, `on`, `1` and their opposites, in any case. */
export const flagSetting = z.string().transform((value, context) => {
  const word = value.trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(word)) return true;
  if (["false", "no", "off", "0"].includes(word)) return false;
  context.addIssue({ code: "custom", message: "must be true or false" });
  return z.NEVER;
});

/** Secrets separated by commas: the current one and those being rotated out. */
export const secretList = z.string().transform((value) =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

const PARTS_MESSAGE = `must name some of ${PLAINTEXT_PARTS.join(", ")}, separated by commas`;

export const plaintextParts = secretList.pipe(
  z.array(z.enum(PLAINTEXT_PARTS, PARTS_MESSAGE)).min(1, PARTS_MESSAGE),
);

const ORIGINS_MESSAGE = "must be origins like https://temporal.example.com, separated by commas";

export const origins = secretList.pipe(
  z.array(z.string().refine((value) => URL.parse(value)?.origin === value, ORIGINS_MESSAGE)),
);

const NETWORKS_MESSAGE = "must be addresses or networks like 10.0.0.0/8, separated by commas";

export const networks = secretList.pipe(
  z.array(z.string().refine((value) => isNetwork(value), NETWORKS_MESSAGE)),
);

function isNetwork(value: string): boolean {
  const [address = "", bits, ...more] = value.split("/");
  const most = { 4: 32, 6: 128 }[isIP(address)];
  if (most === undefined || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

const ADDRESSES_MESSAGE = "must be ROLE:ADDRESS, several separated by commas";

/** `controller:cora@acme.example,owner:olga@acme.example`: addresses by role. */
export const addressesText = z.string().transform((value, context) => {
  const byRole: Record<string, string[]> = {};
  for (const part of value.split(",").map((each) => each.trim())) {
    if (part === "") continue;
    const [, role, address] = /^([^:\s]+):(\S+)$/.exec(part) ?? [];
    if (role === undefined || address === undefined) {
      context.addIssue({ code: "custom", message: ADDRESSES_MESSAGE });
      return z.NEVER;
    }
    (byRole[role] ??= []).push(address);
  }
  return byRole;
});

export const databaseUrl = z.string().transform((value, context) => {
  if (/^postgres(ql)?:\/\//.test(value)) {
    const hasSeveral = namesSeveralHosts(value);
    if (!hasSeveral && URL.canParse(value)) return value;
    const message = hasSeveral ? SEVERAL_HOSTS : POSTGRES_MESSAGE;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  }
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(value)?.[1];
  if (file === undefined) {
    context.addIssue({ code: "custom", message: DATABASE_MESSAGE });
    return z.NEVER;
  }
  return `sqlite:${resolve(file)}`;
});

const POSTGRES_MESSAGE =
  "must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, special characters percent-encoded";
const DATABASE_MESSAGE =
  "must be sqlite: and the path of a file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE";

export const poolSize = z
  .string()
  .regex(/^\d{1,3}$/, "must be a number from 2 to 100")
  .transform(Number)
  .refine((value) => value >= 2 && value <= 100, "must be a number from 2 to 100");

export function countSetting(highest: number): z.ZodType<number, string> {
  const message = `must be a number from 1 to ${highest}`;
  return z
    .string()
    .regex(/^\d{1,6}$/, message)
    .transform(Number)
    .refine((value) => value >= 1 && value <= highest, message);
}
