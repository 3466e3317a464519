import { defineConfig } from 'whetstone';

// The script stands for a model. `mode: 'forward'` uses real ones.
export default defineConfig({ gateway: { mode: 'script', script: 'model.yaml' } });
