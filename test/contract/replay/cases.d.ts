import type { Phase } from './replay';

export function loadPhases(directory: string): Phase[];
export function loadKnown(file: string): Map<string, string>;
