/** Puts an example question into the editors and runs it. */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useState } from 'react';
import { EXAMPLE_QUESTIONS } from '../questions/all';
import { variablesOf, type ExampleQuestion } from '../questions/question';
import { DEFAULT_ARRANGEMENT } from '../answer/arrangement';
import { viewStateStore } from './state';
import { isEmptyOrWelcomeQuery } from './welcome';

const OPERATION_NAME_PATTERN = /\bquery (\w+)/;

export const initialVariablesOf = (question: ExampleQuestion) =>
  variablesOf(question, new Date().toISOString().slice(0, 10));
export const variablesJsonOf = (variables: object) =>
  Object.keys(variables).length ? JSON.stringify(variables, null, 2) : '';

const isReplaceableQuery = (query: string) =>
  isEmptyOrWelcomeQuery(query) || EXAMPLE_QUESTIONS.some((question) => question.query === query);

/**
 * Provides a function that runs a question as soon as the editors have loaded. It opens a new tab
 * unless the query in the active one may be replaced.
 */
export function useRunQuestion(): (question: ExampleQuestion, variables: object) => void {
  const { queryEditor, variableEditor, responseEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'responseEditor'),
  );
  const { addTab, run, setOperationName } = useGraphiQLActions();
  const [pendingRun, setPendingRun] = useState<{ question: ExampleQuestion; variables: object }>();

  useEffect(() => {
    if (!pendingRun || !queryEditor || !variableEditor || !responseEditor) return;
    const { query, chart } = pendingRun.question;

    setPendingRun(undefined);
    if (!isReplaceableQuery(queryEditor.getValue())) addTab();
    queryEditor.setValue(query);
    variableEditor.setValue(variablesJsonOf(pendingRun.variables));
    // The editor would update the operation name only after the run.
    setOperationName(OPERATION_NAME_PATTERN.exec(query)?.[1] ?? '');
    // A new tab is active only after React has rendered it.
    setTimeout(() => {
      // Also resets the choices for an earlier result, such as a filter.
      viewStateStore.update(viewStateStore.activeTabId, {
        view: 'chart',
        chart,
        listPath: undefined,
        massUnit: undefined,
        arrangement: DEFAULT_ARRANGEMENT,
      });
      void run();
    });
  }, [pendingRun, queryEditor, variableEditor, responseEditor, addTab, run, setOperationName]);

  return (question, variables) => setPendingRun({ question, variables });
}
