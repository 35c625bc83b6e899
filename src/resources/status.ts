/** The review that public contributions pass before everybody sees them. */
import type { Choice } from '../extensions';

export const PENDING = '1';
export const ACCEPTED = '2';

export const STATUS: readonly Choice[] = [
  { value: PENDING, label: 'Pending' },
  { value: ACCEPTED, label: 'Accepted' },
  { value: '3', label: 'Declined' },
];
