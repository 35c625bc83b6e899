export interface Case {
  id: string;
  group: string;
  name: string;
}

export interface Phase {
  name: string;
  cases: Case[];
}

export interface Result {
  testCase: Case;
  problems: { at: string }[];
  /** The rule that the case is known to break. */
  rule?: string;
}

export function replayPhase(phase: Phase, options: { base: string; known?: Map<string, string>; concurrency?: number }): Promise<Result[]>;
export function describeFailure(result: Result): string;
