import type { Generated } from "kysely";
import type { CancellationItemsTable, CancellationsTable } from "./cancellation-tables.ts";
import type {
  ApprovalStagesTable,
  DecisionsTable,
  LineApprovalsTable,
  TokensTable,
} from "./decision-tables.ts";
import type { InboxTable, TellingsTable, WatchesTable } from "./event-tables.ts";
import type { IncidentsTable, RetriesTable, RetryCasesTable } from "./incident-tables.ts";
import type { LatePassesTable, SeenPaymentsTable } from "./followed-payment-tables.ts";
import type { NoticeDeliveriesTable, NoticeFactsTable, NoticesTable } from "./notice-tables.ts";
import type { EventStartsTable } from "./event-start-tables.ts";
import type { OnboardingInputsTable, OnboardingsTable, VaultTable } from "./onboarding-tables.ts";
import type {
  AdoptionsTable,
  AttemptsTable,
  LateAnswersTable,
  LooksTable,
  OpenSubjectsTable,
  SendsTable,
} from "./ledger-tables.ts";
import type { BusinessWaitsTable, ClaimsTable, HoldsTable } from "./payment-tables.ts";
import type {
  DryPlanLinesTable,
  DryPlansTable,
  PlanLinesTable,
  PlansTable,
  PlanSkippedTable,
  RunLinesTable,
  RunsTable,
} from "./run-tables.ts";
import type { TopUpsTable } from "./top-up-tables.ts";

/**
 * The store's tables as queries see them.
 *
 * Instants are integers in milliseconds since 1970 (`…AtMs`), dates are `YYYY-MM-DD` texts,
 * JSON is text, booleans are 0 or 1: the subset that SQLite and PostgreSQL share.
 */
export interface Tables {
  runs: RunsTable;
  plans: PlansTable;
  plan_lines: PlanLinesTable;
  plan_skipped: PlanSkippedTable;
  run_lines: RunLinesTable;
  attempts: AttemptsTable;
  sends: SendsTable;
  late_answers: LateAnswersTable;
  looks: LooksTable;
  adoptions: AdoptionsTable;
  open_subjects: OpenSubjectsTable;
  claims: ClaimsTable;
  holds: HoldsTable;
  decisions: DecisionsTable;
  line_approvals: LineApprovalsTable;
  approval_stages: ApprovalStagesTable;
  business_waits: BusinessWaitsTable;
  retries: RetriesTable;
  retry_cases: RetryCasesTable;
  incidents: IncidentsTable;
  inbox: InboxTable;
  watches: WatchesTable;
  tellings: TellingsTable;
  tokens: TokensTable;
  audit: AuditTable;
  audit_ends: AuditEndsTable;
  playbooks: PlaybooksTable;
  dry_plans: DryPlansTable;
  dry_plan_lines: DryPlanLinesTable;
  leases: LeasesTable;
  vault: VaultTable;
  onboardings: OnboardingsTable;
  onboarding_inputs: OnboardingInputsTable;
  cancellations: CancellationsTable;
  cancellation_items: CancellationItemsTable;
  notices: NoticesTable;
  notice_facts: NoticeFactsTable;
  notice_deliveries: NoticeDeliveriesTable;
  event_starts: EventStartsTable;
  top_ups: TopUpsTable;
  seen_payments: SeenPaymentsTable;
  late_passes: LatePassesTable;
}

export interface AuditTable {
  audit_id: Generated<number>;
  business_id: string;
  at_ms: number;
  actor: string;
  action: string;
  subject: string;
  details: string;
  prev_hash: string;
  hash: string;
}

/** Kept by a trigger: nobody writes it. */
export interface AuditEndsTable {
  business_id: string;
  entries: number;
  hash: string;
}

export interface PlaybooksTable {
  name: string;
  /** 1, 2, … */
  revision: number;
  kind: string;
  /** Profile name of the business, or null for the only one. */
  business: string | null;
  /** The file as it was. */
  text: string;
  /** Playbook as JSON. */
  compiled: string;
  /** Who stored it: they don't count as an approver of its runs. */
  author: string;
  author_token_id: string | null;
  created_at_ms: number;
}

/** Who may do what only one process does at a time. */
export interface LeasesTable {
  name: string;
  holder: string;
  /** Real instant. */
  until_ms: number;
}
