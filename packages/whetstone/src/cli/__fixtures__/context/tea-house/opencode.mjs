import { fileURLToPath } from 'node:url';

/** For OpenCode, which asks a program what a plugin brings. */
export const TeaHouse = async () => ({
  async config(config) {
    const paths = config.skills?.paths ?? [];
    config.skills = { ...config.skills, paths: [...paths, fileURLToPath(new URL('skills', import.meta.url))] };
  },
});
