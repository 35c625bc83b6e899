/** Puts a question into the editors and asks it. */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useCallback } from 'react';
import { variablesOf, type Question } from '../questions/question';
import { looks, type Look } from './state';

const NAME = /\bquery (\w+)/;

export const today = () => new Date().toISOString().slice(0, 10);
export const jsonOf = (variables: object) => (Object.keys(variables).length ? JSON.stringify(variables, null, 2) : '');

/** Answers a function that asks a query in the tab that is in front, or in a new one where that holds something of the visitor's own. */
export function useAsk(isOurs: (query: string) => boolean) {
  const { queryEditor, variableEditor } = useGraphiQL(pick('queryEditor', 'variableEditor'));
  const { addTab, run, setOperationName } = useGraphiQLActions();
  return useCallback(
    (query: string, variables: string, look: Partial<Look>) => {
      if (!queryEditor || !variableEditor) return;
      if (!isOurs(queryEditor.getValue())) addTab();
      queryEditor.setValue(query);
      variableEditor.setValue(variables);
      // The editor tells of it a moment later, but it is run now.
      setOperationName(NAME.exec(query)?.[1] ?? '');
      // A new tab is in front once React has drawn it.
      setTimeout(() => {
        looks.change(looks.active, look);
        void run();
      });
    },
    [queryEditor, variableEditor, addTab, run, setOperationName, isOurs],
  );
}

export const lookOf = ({ chart }: Question): Partial<Look> => ({ view: 'chart', chart, list: undefined });

export const variablesTextOf = (question: Question): string => jsonOf(variablesOf(question, today()));
