/** Returns a first playbook for a newly verified business: the safe defaults, written out. */
export function firstPlaybook(business: string): string {
  return `# yaml-language-server: $schema=./playbook.schema.json
#
# A proposal: nothing runs before a person has read and stored it. It pays the week's approved bills
# every Thursday, each after one approval; flagged ones after two.
kind: pay-run
business: ${business}
schedule: { every: thursday, at: "10:00", zone: America/New_York }
select: { due: before-next-run }
pay: { on: arrives-by-due-date, from: default, whenShort: most-urgent-first }
limits: { bill: $10k, businessPerWeek: $50k }
review: [new-vendor, changed-bank-account, likely-duplicate, unusual-amount]
approve:
  - { when: review, by: [controller, owner], quorum: 2 }
  - { by: [controller, owner] }
late: ask
onFailure: retry-failed
`;
}
