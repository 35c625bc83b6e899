/** Policies that differ between GraphQL and REST. REST keeps the behaviour of the reference service, whose REST API this server implements. */
import type { ApiName } from '../../contract/metadata';

/** Sort order of strings in public resources: by Unicode rules ("Äpfel" next to "Apfel", migration 0052) or by their bytes. */
export type TextOrder = 'unicode' | 'bytes';

export interface ApiPolicies {
  /** Whether rules across several fields of a row are enforced, such as that a session does not end before it starts. */
  enforcesRules: boolean;
  /**
   * Whether all users may refer to public rows that are pending review, and see the child rows of such rows. Otherwise only superusers may, because
   * they review contributions.
   */
  showsUnreviewedRows: boolean;
  textOrder: TextOrder;
  /** Whether clients can refer to a row by its global id (`nodeId`) as well as by its numeric id. */
  acceptsNodeIds: boolean;
  /**
   * Whether weights are interpreted as in the reference service: in the unit of the user's profile, and added without conversion. Otherwise each
   * weight has its own unit.
   */
  assumesProfileUnits: boolean;
}

export const POLICIES_BY_API: Readonly<Record<ApiName, Readonly<ApiPolicies>>> = {
  graphql: {
    enforcesRules: true,
    showsUnreviewedRows: false,
    textOrder: 'unicode',
    acceptsNodeIds: true,
    assumesProfileUnits: false,
  },
  rest: {
    enforcesRules: false,
    showsUnreviewedRows: true,
    textOrder: 'bytes',
    acceptsNodeIds: false,
    assumesProfileUnits: true,
  },
};
