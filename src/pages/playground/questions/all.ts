/** All example questions, in the order in which the playground lists them. */
import { BODY } from './body';
import { CATALOGUE } from './catalogue';
import { EFFORT } from './effort';
import { FORMULAS } from './formulas';
import { INTAKE } from './intake';
import { NUTRITION } from './nutrition';
import type { Question } from './question';
import { TRAINING } from './training';

export const QUESTIONS: readonly Question[] = [...FORMULAS, ...TRAINING, ...EFFORT, ...INTAKE, ...NUTRITION, ...BODY, ...CATALOGUE];
