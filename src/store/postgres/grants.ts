import { type Table } from "../schema/table.ts";
import { TABLES, type Tables } from "../schema/tables.ts";
import { COMMITS_TABLE } from "./ddl.ts";

type Role = "worker" | "gateway";

const BOTH: readonly Role[] = ["worker", "gateway"];
const WORKER: readonly Role[] = ["worker"];
const GATEWAY: readonly Role[] = ["gateway"];

/** The roles that write each table. A reader writes none. */
const WRITERS: Readonly<Record<keyof Tables, readonly Role[]>> = {
  runs: BOTH,
  plans: WORKER,
  plan_lines: WORKER,
  plan_skipped: WORKER,
  run_lines: BOTH,
  dry_plans: BOTH,
  dry_plan_lines: WORKER,
  attempts: WORKER,
  sends: WORKER,
  late_answers: WORKER,
  lookups: WORKER,
  adoptions: WORKER,
  open_subjects: BOTH,
  claims: BOTH,
  holds: BOTH,
  business_waits: WORKER,
  seen_payments: WORKER,
  late_passes: WORKER,
  decisions: BOTH,
  line_approvals: BOTH,
  confirmed_records: BOTH,
  approval_stages: WORKER,
  tokens: GATEWAY,
  token_uses: GATEWAY,
  sessions: GATEWAY,
  sign_in_links: GATEWAY,
  inbox: BOTH,
  subscriptions: BOTH,
  pending_signals: BOTH,
  event_starts: BOTH,
  account_looks: GATEWAY,
  retries: BOTH,
  retry_cases: BOTH,
  incidents: BOTH,
  cancellations: BOTH,
  cancellation_items: BOTH,
  top_ups: BOTH,
  vault: BOTH,
  onboardings: BOTH,
  onboarding_inputs: BOTH,
  names: BOTH,
  notices: BOTH,
  notice_facts: BOTH,
  notice_deliveries: BOTH,
  audit: BOTH,
  // A trigger updates it, with its owner's rights.
  audit_ends: [],
  playbooks: GATEWAY,
  playbook_proposals: GATEWAY,
  secrets: BOTH,
  leases: BOTH,
  keyed_requests: BOTH,
  keyed_effects: BOTH,
};

/** Tables that a mere reader may not see: personal data, and what people are identified by. */
const UNREAD: readonly (keyof Tables)[] = [
  ...(["vault", "tokens", "sessions", "sign_in_links"] as const),
  ...(["keyed_requests", "keyed_effects"] as const),
];

const ROLES = {
  worker: "payrun_worker",
  gateway: "payrun_gateway",
  reader: "payrun_reader",
} as const;

/**
 * Returns SQL for a database's owner: a role each for workers, gateways and readers of reports,
 * with the rights that each needs and no more. These roles can't log in; `create user … in role
 * payrun_worker` creates a user that can. The SQL can be run again.
 */
export function grantStatements(): string[] {
  const names = Object.keys(TABLES) as (keyof Tables)[];
  const readable = names.filter((name) => !UNREAD.includes(name));
  const all = Object.values(ROLES);
  return [
    ...all.map(
      (role) =>
        `do $body$ begin create role ${role} nologin; exception when duplicate_object then null; end $body$;`,
    ),
    ...all.flatMap((role) => [
      `revoke all on all tables in schema public from ${role};`,
      `grant usage on schema public to ${role};`,
      `grant select on payrun_schema to ${role};`,
    ]),
    ...[ROLES.worker, ROLES.gateway].flatMap((role) => [
      `grant select on ${names.join(", ")} to ${role};`,
      `grant select, insert, delete on ${COMMITS_TABLE} to ${role};`,
    ]),
    ...names.flatMap((name) =>
      WRITERS[name].map((role) => `grant ${verbsOf(TABLES[name])} on ${name} to ${ROLES[role]};`),
    ),
    `grant select on ${readable.join(", ")} to ${ROLES.reader};`,
  ];
}

function verbsOf({ onlyGrows, writtenOnce }: Table): string {
  if (onlyGrows === true) return "insert";
  return writtenOnce === undefined ? "insert, update, delete" : "insert, update";
}
