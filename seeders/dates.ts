const DAY = 86_400_000;

/** Returns `date` moved by whole days, computed in UTC, where every day has 24 hours. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);
}

/** Returns the id of the day of the week: 1 = Monday .. 7 = Sunday. */
export function weekday(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay() || 7;
}
