/** Reads that stay as short as what they find, however much a business has paid before. */
export function shortReads(): string[] {
  return [
    `create index run_lines_under_way on run_lines (business_id, source_id, execution_date)
       where state in
         ('planned', 'paying', 'unknown', 'scheduled', 'held', 'processing', 'retrying')`,
    `create index run_lines_taken on run_lines (business_id, source_id, updated_at_ms)
       where state in ('processing', 'settled')`,
    `create index run_lines_parked on run_lines (business_id, reason_code, payable_id)
       where state = 'parked'`,
    `create index attempts_sent_often on attempts (business_id) where length(sends) > 4000`,
    `create index cancellation_items_withheld on cancellation_items (business_id)
       where state = 'withheld'`,
  ];
}
