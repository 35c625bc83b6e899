export const runs: Record<'service' | 'system', string[]>;
/** Tests with inputs from test/setup/random.ts, without their ending. */
export const random: string[];
export function togetherIn(folder: string): string[];
