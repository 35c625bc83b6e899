/** Puts a query into the editors and runs it. */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useCallback, useEffect, useState } from 'react';
import { variablesOf, type Question } from '../questions/question';
import { looks, type Look } from './state';

const OPERATION_NAME = /\bquery (\w+)/;

export const today = () => new Date().toISOString().slice(0, 10);
export const jsonOf = (variables: object) => (Object.keys(variables).length ? JSON.stringify(variables, null, 2) : '');

interface PendingRequest {
  query: string;
  variables: string;
  look: Partial<Look>;
}

/**
 * Returns a function that runs a query in the active tab, or in a new tab if the active one contains a query that the user wrote. A call before the
 * editors have loaded is run once they have.
 */
export function useAsk(isOurs: (query: string) => boolean): (query: string, variables: string, look: Partial<Look>) => void {
  const { queryEditor, variableEditor, responseEditor } = useGraphiQL(pick('queryEditor', 'variableEditor', 'responseEditor'));
  const { addTab, run, setOperationName } = useGraphiQLActions();
  const [pendingRequest, setPendingRequest] = useState<PendingRequest>();
  useEffect(() => {
    if (!pendingRequest || !queryEditor || !variableEditor || !responseEditor) return;
    const { query, variables, look } = pendingRequest;
    setPendingRequest(undefined);
    if (!isOurs(queryEditor.getValue())) addTab();
    queryEditor.setValue(query);
    variableEditor.setValue(variables);
    // The editor reports the operation name a moment later, but the query is run now.
    setOperationName(OPERATION_NAME.exec(query)?.[1] ?? '');
    // A new tab is active only after React has rendered it.
    setTimeout(() => {
      looks.change(looks.active, look);
      void run();
    });
  }, [pendingRequest, queryEditor, variableEditor, responseEditor, addTab, run, setOperationName, isOurs]);
  return useCallback((query, variables, look) => setPendingRequest({ query, variables, look }), []);
}

export const lookOf = ({ chart }: Question): Partial<Look> => ({ view: 'chart', chart, list: undefined, unit: undefined });

export const variablesTextOf = (question: Question): string => jsonOf(variablesOf(question, today()));
