/**
 * The tables of the resources. Instants are milliseconds of the bank clock; `seq` is creation
 * order. Triggers maintain what a business's balance has reserved and on its way out, so that no
 * answer has to sum up its payments.
 */
export const resourcesDdl = `
CREATE TABLE IF NOT EXISTS businesses (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  name TEXT NOT NULL,
  verification TEXT NOT NULL,
  setup_complete INTEGER NOT NULL,
  payments_locked INTEGER NOT NULL,
  accepts_double_payments INTEGER NOT NULL DEFAULT 0,
  balance_feature INTEGER NOT NULL,
  accelerated_feature INTEGER NOT NULL,
  balance_status TEXT,
  cash_cents INTEGER NOT NULL,
  reserved_cents INTEGER NOT NULL DEFAULT 0,
  outbound_cents INTEGER NOT NULL DEFAULT 0,
  next_bill_number INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS bank_accounts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL,
  status TEXT NOT NULL,
  type TEXT NOT NULL,
  connection_type TEXT NOT NULL,
  name TEXT,
  institution_name TEXT,
  account_last4 TEXT,
  routing_last4 TEXT,
  is_default INTEGER NOT NULL,
  micro_deposits_initiated_at INTEGER,
  micro_deposits_completed_at INTEGER,
  verification_attempts INTEGER NOT NULL,
  needs_reauth INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS bank_accounts_business ON bank_accounts (business_id, seq);

CREATE TABLE IF NOT EXISTS contacts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  display_name TEXT,
  emails TEXT NOT NULL,
  phone TEXT,
  address TEXT,
  payment_direction TEXT NOT NULL,
  net_terms INTEGER,
  bank_last4 TEXT,
  bank_account_type TEXT,
  tax_legal_name TEXT,
  tax_id_type TEXT,
  tax_id_mask TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  archived_at INTEGER
);
CREATE INDEX IF NOT EXISTS contacts_business ON contacts (business_id, seq);
CREATE INDEX IF NOT EXISTS contacts_name ON contacts (business_id, display_name COLLATE NOCASE);

CREATE TABLE IF NOT EXISTS payables (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  public_id TEXT NOT NULL,
  business_id TEXT NOT NULL,
  contact_id TEXT,
  status TEXT NOT NULL,
  payment_status TEXT NOT NULL,
  total_cents INTEGER NOT NULL,
  paid_cents INTEGER NOT NULL,
  due_date TEXT,
  issue_date TEXT,
  custom_number TEXT,
  description TEXT,
  items TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS payables_business ON payables (business_id, seq);
CREATE INDEX IF NOT EXISTS payables_status ON payables (business_id, status, seq);

CREATE TABLE IF NOT EXISTS payments (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL,
  payable_id TEXT NOT NULL,
  contact_id TEXT,
  status TEXT NOT NULL,
  amount_cents INTEGER NOT NULL,
  bank_account_id TEXT,
  payment_rail TEXT,
  clearing TEXT NOT NULL,
  scheduled_at INTEGER NOT NULL,
  processed_at INTEGER,
  failure_reason TEXT,
  cancel_reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  debited INTEGER NOT NULL,
  credited INTEGER NOT NULL,
  hold_by TEXT,
  planned TEXT,
  due_at INTEGER,
  due_step TEXT
);
CREATE INDEX IF NOT EXISTS payments_newest ON payments (business_id, created_at DESC, seq DESC);
CREATE INDEX IF NOT EXISTS payments_of_payable
  ON payments (business_id, payable_id, created_at DESC, seq DESC);
CREATE INDEX IF NOT EXISTS payments_of_contact
  ON payments (business_id, contact_id, created_at DESC, seq DESC);
CREATE INDEX IF NOT EXISTS payments_status
  ON payments (business_id, status, created_at DESC, seq DESC);
CREATE INDEX IF NOT EXISTS payments_payable ON payments (payable_id, seq);
CREATE INDEX IF NOT EXISTS payments_due ON payments (due_at, seq) WHERE due_at IS NOT NULL;

CREATE TRIGGER IF NOT EXISTS payments_inserted AFTER INSERT ON payments
WHEN ${reserves("NEW")} OR ${isOutbound("NEW")}
BEGIN
  UPDATE businesses SET
    reserved_cents = reserved_cents + ${reserves("NEW")} * NEW.amount_cents,
    outbound_cents = outbound_cents + ${isOutbound("NEW")} * NEW.amount_cents
  WHERE id = NEW.business_id;
END;
CREATE TRIGGER IF NOT EXISTS payments_moved AFTER UPDATE OF status, debited ON payments
WHEN NEW.payment_rail = 'SERVICE'
BEGIN
  UPDATE businesses SET
    reserved_cents = reserved_cents
      + (${reserves("NEW")} - ${reserves("OLD")}) * NEW.amount_cents,
    outbound_cents = outbound_cents
      + (${isOutbound("NEW")} - ${isOutbound("OLD")}) * NEW.amount_cents
  WHERE id = NEW.business_id;
END;
`;

/**
 * Returns SQL that is true if a payment reserves money of the balance: from its creation until its
 * debit.
 */
function reserves(row: "NEW" | "OLD"): string {
  return `(${row}.payment_rail = 'SERVICE' AND ${row}.debited = 0
    AND ${row}.status IN ('pending', 'held'))`;
}

/**
 * Returns SQL that is true if a payment's money is on its way out: from its debit until it is
 * settled.
 */
function isOutbound(row: "NEW" | "OLD"): string {
  return `(${row}.payment_rail = 'SERVICE' AND ${row}.debited = 1
    AND ${row}.status IN ('processing', 'held'))`;
}
