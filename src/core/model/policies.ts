/** Policies in which the two interfaces differ: REST keeps the behaviour that clients of the original service rely on. */
export type Api = 'graphql' | 'rest';

/** Order of texts of public resources: by Unicode rules ("Äpfel" next to "Apfel", migration 0052) or by their bytes. */
export type TextOrder = 'unicode' | 'bytes';

export interface Policies {
  /** Whether rules across several fields of a row are enforced, such as that a session does not end before it starts. */
  enforcesRules: boolean;
  /**
   * Whether references lead to catalogue rows pending review, and parts of such rows are visible. Otherwise all of that is hidden from everybody but
   * superusers, who review it.
   */
  showsUnreviewed: boolean;
  textOrder: TextOrder;
  /** Whether a row can be named by its global id (`nodeId`) as well as by its number. */
  acceptsNodeIds: boolean;
  /** Whether weights are in the unit of the user's profile, as the original service stores and adds them. Otherwise each has its own unit. */
  assumesProfileUnits: boolean;
}

export const POLICIES: Readonly<Record<Api, Readonly<Policies>>> = {
  graphql: { enforcesRules: true, showsUnreviewed: false, textOrder: 'unicode', acceptsNodeIds: true, assumesProfileUnits: false },
  rest: { enforcesRules: false, showsUnreviewed: true, textOrder: 'bytes', acceptsNodeIds: false, assumesProfileUnits: true },
};
