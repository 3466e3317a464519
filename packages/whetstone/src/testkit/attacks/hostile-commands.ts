/** What a command of a task does to the machine beyond the tree, by what it looks like. */
export const hostileCommands: readonly (readonly [what: string, looks: RegExp])[] = [
  [
    'runs what it downloads',
    /\b(curl|wget)\b[^|;&\n]*(\|\s*(sudo\s+)?(ba|z|da)?sh\b|\|\s*(node|python3?|perl)\b)/,
  ],
  ['runs what it downloads', /\b(ba|z|da)?sh\s+(-c\s+)?["']?(<\(|\$\()\s*(curl|wget)\b/],
  ['takes the rights of root', /(^|[;&|]\s*)(sudo|doas|su)\s/m],
  ['talks to a container engine', /docker\.sock|podman\.sock|--privileged\b|\bdocker\s+(run|exec|cp)\b/],
  [
    'reads keys and passwords',
    /(~|\$HOME|\/root|\/home\/[\w.-]+)\/\.(ssh|aws|netrc|gnupg|kube|docker)\b|\/etc\/shadow\b/,
  ],
  ['asks a cloud for its credentials', /169\.254\.169\.254|metadata\.google\.internal/],
  [
    'removes or changes what is outside of the tree',
    /\brm\s+-\w*[rf]\w*\s+["']?(\/(\s|$|\*)|~|\$HOME)|\bchmod\s+\S*[su]\+s/,
  ],
  ['leaves a job for later', /\b(crontab|systemctl\s+enable|at\s+now)\b/],
];
