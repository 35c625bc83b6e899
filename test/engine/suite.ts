import { together } from '../setup/together';

together(__dirname);
