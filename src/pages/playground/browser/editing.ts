/** Puts a question into the editors and asks it. */
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useCallback, useEffect, useState } from 'react';
import { variablesOf, type Question } from '../questions/question';
import { looks, type Look } from './state';

const NAME = /\bquery (\w+)/;

export const today = () => new Date().toISOString().slice(0, 10);
export const jsonOf = (variables: object) => (Object.keys(variables).length ? JSON.stringify(variables, null, 2) : '');

interface Wanted {
  query: string;
  variables: string;
  look: Partial<Look>;
}

/**
 * Answers a function that asks a query in the tab that is in front, or in a new one where that holds something of the visitor's own. What is
 * asked while the editors are still being loaded is asked once they are there.
 */
export function useAsk(isOurs: (query: string) => boolean): (query: string, variables: string, look: Partial<Look>) => void {
  const { queryEditor, variableEditor, responseEditor } = useGraphiQL(pick('queryEditor', 'variableEditor', 'responseEditor'));
  const { addTab, run, setOperationName } = useGraphiQLActions();
  const [wanted, setWanted] = useState<Wanted>();
  useEffect(() => {
    if (!wanted || !queryEditor || !variableEditor || !responseEditor) return;
    const { query, variables, look } = wanted;
    setWanted(undefined);
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
  }, [wanted, queryEditor, variableEditor, responseEditor, addTab, run, setOperationName, isOurs]);
  return useCallback((query, variables, look) => setWanted({ query, variables, look }), []);
}

export const lookOf = ({ chart }: Question): Partial<Look> => ({ view: 'chart', chart, list: undefined, unit: undefined });

export const variablesTextOf = (question: Question): string => jsonOf(variablesOf(question, today()));
