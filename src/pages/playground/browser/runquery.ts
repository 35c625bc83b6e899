/** Puts a query into the editors and runs it. */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useCallback, useEffect, useState } from 'react';
import { variablesOf, type ExampleQuestion } from '../questions/question';
import { DEFAULT_ARRANGEMENT } from '../answer/arrangement';
import { viewStateStore, type ViewState } from './state';

const OPERATION_NAME_PATTERN = /\bquery (\w+)/;

export const isoDateToday = () => new Date().toISOString().slice(0, 10);
export const variablesJsonOf = (variables: object) => (Object.keys(variables).length ? JSON.stringify(variables, null, 2) : '');

interface PendingRequest {
  query: string;
  variables: string;
  viewState: Partial<ViewState>;
}

/**
 * Returns a function that runs a query in the active tab if `isReplaceable` returns true for the query in that tab. If it returns false, because the
 * user wrote that query, the function opens a new tab. If the editors have not loaded yet, the function runs the query as soon as they have.
 */
export function useRunQuery(
  isReplaceable: (query: string) => boolean,
): (query: string, variables: string, viewState: Partial<ViewState>) => void {
  const { queryEditor, variableEditor, responseEditor } = useGraphiQL(pick('queryEditor', 'variableEditor', 'responseEditor'));
  const { addTab, run, setOperationName } = useGraphiQLActions();
  const [pendingRequest, setPendingRequest] = useState<PendingRequest>();
  useEffect(() => {
    if (!pendingRequest || !queryEditor || !variableEditor || !responseEditor) return;
    const { query, variables, viewState } = pendingRequest;
    setPendingRequest(undefined);
    if (!isReplaceable(queryEditor.getValue())) addTab();
    queryEditor.setValue(query);
    variableEditor.setValue(variables);
    // The operation name is set explicitly, because the editor would update it only after the query has been run.
    setOperationName(OPERATION_NAME_PATTERN.exec(query)?.[1] ?? '');
    // A new tab is active only after React has rendered it.
    setTimeout(() => {
      viewStateStore.update(viewStateStore.activeTabId, viewState);
      void run();
    });
  }, [pendingRequest, queryEditor, variableEditor, responseEditor, addTab, run, setOperationName, isReplaceable]);
  return useCallback((query, variables, viewState) => setPendingRequest({ query, variables, viewState }), []);
}

/** Returns the initial view state for the result of a question. It resets what the user chose for an earlier result, such as a filter. */
export const viewStateOf = ({ chart }: ExampleQuestion): Partial<ViewState> => ({
  view: 'chart',
  chart,
  list: undefined,
  massUnit: undefined,
  arrangement: DEFAULT_ARRANGEMENT,
});

export const initialVariablesJsonOf = (question: ExampleQuestion): string => variablesJsonOf(variablesOf(question, isoDateToday()));
