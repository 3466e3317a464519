import { expect, test } from 'vitest';
import { providerKeys } from './agent-secrets.ts';

test('the keys of providers in an environment are known by the names that providers give them', () => {
  const keys = {
    OPENAI_API_KEY: 'openai',
    OPENAI_ADMIN_KEY: 'admin',
    ANTHROPIC_AUTH_TOKEN: 'anthropic',
    AWS_SECRET_ACCESS_KEY: 'aws',
    AWS_SESSION_TOKEN: 'session',
    AWS_BEARER_TOKEN_BEDROCK: 'bedrock',
    CLAUDE_CODE_OAUTH_TOKEN: 'claude',
    HF_TOKEN: 'hf',
    HUGGING_FACE_HUB_TOKEN: 'hub',
    WATSONX_APIKEY: 'watsonx',
    DATABRICKS_TOKEN: 'databricks',
    FAL_KEY: 'fal',
    GITLAB_TOKEN: 'duo',
    VERCEL_OIDC_TOKEN: 'gateway of Vercel',
  };
  const others = { PATH: '/bin', AWS_ACCESS_KEY_ID: 'id', OPENAI_BASE_URL: 'url', EMPTY_API_KEY: '' };
  expect(providerKeys({ ...keys, ...others }).toSorted()).toEqual(Object.values(keys).toSorted());
});
