export const runs: Record<'service' | 'system', string[]>;

/** Tests with inputs from test/setup/random.ts, without the suffix `.test.ts`. */
export const random: string[];
export function togetherIn(folder: string): string[];
