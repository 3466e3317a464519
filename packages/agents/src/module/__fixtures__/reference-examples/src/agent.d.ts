export declare function classifyIntent(text: string): Promise<{ intent: 'question' | 'statement' }>;
