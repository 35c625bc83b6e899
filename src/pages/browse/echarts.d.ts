/** TypeScript declarations for the single-file version of ECharts, which comes without declarations. */
declare module 'echarts/dist/echarts.min.js' {
  export { init } from 'echarts';
}
