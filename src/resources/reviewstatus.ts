/** Review status of contributions to the catalogue. Only accepted contributions are visible to everybody. */
import { registerChoices } from '../core/model/choices';

export const PENDING = '1';
export const ACCEPTED = '2';

const REVIEW_STATUS_CHOICES = registerChoices('ReviewStatus', 'How far a contribution has come in its review.', [
  ['PENDING', PENDING, 'Pending', 'Nobody has decided on it yet.'],
  ['ACCEPTED', ACCEPTED, 'Accepted', 'Everybody sees it.'],
  ['DECLINED', '3', 'Declined', 'It was turned down.'],
]);

export const REVIEW_STATUS_OPTIONS = {
  label: 'Status',
  note: 'Only accepted ones are shown to everybody.',
  choices: REVIEW_STATUS_CHOICES,
  default: PENDING,
  max: 2,
} as const;
