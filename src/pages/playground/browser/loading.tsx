/** Placeholder for a panel that is being loaded. */
export const Loading = () => <p className="hint">Loading …</p>;
