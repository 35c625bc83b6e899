export const runs: Record<'service' | 'system', string[]>;
export function togetherIn(folder: string): string[];
