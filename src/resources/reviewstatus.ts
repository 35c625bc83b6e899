/** Review status of contributions to the catalogue. Only accepted contributions are visible to everybody. */
import { registerChoices } from '../core/model/choices';

export const PENDING = '1';
export const ACCEPTED = '2';

export const REVIEW_STATUS_CHOICES = registerChoices('ReviewStatus', 'The state of the review of a contribution.', [
  ['PENDING', PENDING, 'Pending', 'No decision has been made yet.'],
  ['ACCEPTED', ACCEPTED, 'Accepted', 'Accepted: visible to everyone.'],
  ['DECLINED', '3', 'Declined', 'Rejected.'],
]);
