/** Placeholder while a panel is loaded. */
export const Loading = () => <p className="hint">Loading …</p>;
