/** Returns the Monday of a date's week. */
export function weekOf(date: string): string {
  const noon = Date.parse(`${date}T12:00:00Z`);
  const sinceMonday = (new Date(noon).getUTCDay() + 6) % 7;
  return new Date(noon - sinceMonday * 86_400_000).toISOString().slice(0, 10);
}
