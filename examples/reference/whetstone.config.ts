import { defineConfig } from 'whetstone';

export default defineConfig({ gateway: { mode: 'script', script: 'model.yaml' } });
