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
}

export function replayPhase(
  phase: Phase,
  options: { base: string; concurrency?: number },
): Promise<Result[]>;
export function describeFailure(result: Result): string;
