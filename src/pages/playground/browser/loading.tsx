/** What a panel shows until it is there. */
export const Loading = () => <p className="hint">Loading …</p>;
