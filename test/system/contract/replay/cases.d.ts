import type { Phase } from './replay';

export function loadPhases(directory: string): Phase[];
